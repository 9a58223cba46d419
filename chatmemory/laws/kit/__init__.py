"""The parts of all laws: laws, samples, hosts, races and cancellations."""
