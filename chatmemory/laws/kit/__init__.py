"""What all laws are made of: laws, samples, hosts, races and cancellations."""
