"""Services that every effect can use without providing them: time, randomness, ids and schedules."""
