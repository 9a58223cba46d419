"""Memory in PostgreSQL: many machines, one store; asyncpg is known to this package only."""
