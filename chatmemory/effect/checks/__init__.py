"""What is refused where it is made: arguments that do not fit, and the sentences that say what to write instead."""
