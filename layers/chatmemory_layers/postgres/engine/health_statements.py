"""The statements of the health checks in ``store_checks.py``, and the names of the indexes that a store has."""

from typing import Final

INDEXES: Final = [
    "atomic_memory_attribute",
    "atomic_memory_beside",
    "atomic_memory_dedup",
    "atomic_memory_key",
    "atomic_memory_pkey",
    "atomic_memory_recallable",
    "atomic_memory_session",
    "atomic_memory_short_term",
    "atomic_memory_successor",
    "atomic_memory_terms",
    "atomic_memory_timeline",
    "atomic_memory_user_key_memory_id_key",
    "chat_message_by_id",
    "chat_message_in_view",
    "chat_message_pkey",
    "chatmemory_migration_pkey",
    "conversation_event_changes",
    "conversation_event_named",
    "conversation_event_pkey",
    "conversation_owner",
    "conversation_owner_recency",
    "conversation_pkey",
    "conversation_recency",
    "conversation_tree_pkey",
    "first_answer_expiry",
    "first_answer_pkey",
    "first_answer_words",
    "history_work_due",
    "history_work_pkey",
    "item_event_changes",
    "item_event_named",
    "item_event_pkey",
    "item_passage_pkey",
    "item_version_ended",
    "item_version_pkey",
    "memory_embedding_pkey",
    "memory_event_changes",
    "memory_event_forgotten",
    "memory_event_named",
    "memory_event_pkey",
    "memory_event_target",
    "memory_space_model_dim_key",
    "memory_space_pkey",
    "memory_use_pkey",
    "memory_user_pkey",
    "memory_version_pkey",
    "stored_item_expiry",
    "stored_item_namespace",
    "stored_item_pkey",
    "summarization_metadata_by_message",
    "summarization_metadata_pkey",
    "summary_coverage_once",
    "summary_coverage_pkey",
]
"""The indexes of the newest schema, without those of vectors and of row-level security, which not every store needs."""

SELECT_SERVER: Final = "SELECT current_setting('server_version') AS version, current_database() AS name"
SELECT_STEPS: Final = "SELECT to_regclass('chatmemory_migration') IS NOT NULL AS has_ledger"
COUNT_STEPS: Final = "SELECT count(*) AS taken FROM chatmemory_migration"
# From the statistics of the server, so that the check reads no table.
SELECT_SIZES: Final = """
SELECT name, coalesce(n_live_tup, 0) AS living, coalesce(n_dead_tup, 0) AS dead,
    coalesce(pg_table_size(relid), 0) AS table_bytes, coalesce(pg_indexes_size(relid), 0) AS index_bytes,
    greatest(last_vacuum, last_autovacuum)::text AS vacuumed
FROM unnest($1::text[]) AS name LEFT JOIN pg_stat_user_tables ON relid = to_regclass(name)
ORDER BY pg_total_relation_size(relid) DESC NULLS LAST
"""
COUNT_WORK: Final = """
SELECT count(*) AS waiting,
    coalesce(extract(epoch FROM clock_timestamp()) - min(due_at_us) / 1000000.0, 0)::float AS seconds
FROM history_work
"""
SELECT_MISSING: Final = """
SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL
"""
SELECT_INVALID: Final = """
SELECT indexrelid::regclass::text AS name FROM pg_index
WHERE indrelid = ANY (ARRAY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name)) AND NOT indisvalid
    AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid)
"""
SELECT_COUNTS_STATEMENTS: Final = "SELECT to_regclass('pg_stat_statements') IS NOT NULL AS is_counted"
SELECT_SLOW: Final = """
SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 80) AS query, calls, mean_exec_time::float AS ms
FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND calls >= $1 AND mean_exec_time >= $2
ORDER BY total_exec_time DESC LIMIT 3
"""
SELECT_IS_REPLICA: Final = "SELECT pg_is_in_recovery() AS is_replica"
# A replica that has replayed everything does not lag, however old the last write is.
SELECT_OWN_LAG: Final = """
SELECT CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 ELSE
    coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0) END::float AS seconds
"""
SELECT_REPLICAS: Final = """
SELECT coalesce(nullif(application_name, ''), client_addr::text, 'replica') AS name,
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint AS behind,
    coalesce(extract(epoch FROM replay_lag), 0)::float AS seconds
FROM pg_stat_replication
"""
SELECT_SLOTS: Final = """
SELECT slot_name AS name, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint AS behind
FROM pg_replication_slots WHERE NOT active
"""
SELECT_SETTINGS: Final = """
SELECT name, setting, pg_size_bytes(CASE WHEN unit = '8kB' THEN setting || ' kB' ELSE '0' END) * 8 AS bytes
FROM pg_settings WHERE name = ANY ($1::text[])
"""
SELECT_VECTOR: Final = "SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'"
SELECT_OPEN: Final = """
SELECT pid, coalesce(usename, '') AS role, state, extract(epoch FROM clock_timestamp() - xact_start)::float AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - make_interval(secs => $1::float)
ORDER BY xact_start LIMIT 3
"""
