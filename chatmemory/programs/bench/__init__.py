"""``chatmemory bench``: measures how well memory finds the answers to questions, on public suites and a team's own."""
