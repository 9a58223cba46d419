"""Services that every effect can ask for without anybody providing them: time, chance, ids, and schedules of time."""
