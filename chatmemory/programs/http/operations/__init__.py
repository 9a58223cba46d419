"""What can be asked: the handlers, each with the classes of its requests and answers, and a table of operations at the end."""
