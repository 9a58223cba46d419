"""The PostgreSQL engine: connections, transactions, migrations, problems."""
