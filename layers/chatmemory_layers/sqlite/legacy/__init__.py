"""The desktop application's files: opened, migrated and imported."""
