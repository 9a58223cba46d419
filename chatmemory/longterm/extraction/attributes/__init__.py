"""What a text says of a user's attributes: where they live, what they are called, which editor they use."""
