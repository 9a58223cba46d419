"""``fake_citus``: the catalog and the functions of Citus in a plain PostgreSQL, in a schema of their own.

It spreads nothing.  It refuses what Citus refuses when a table is distributed, and records what it was asked.
"""

from tests.unit.postgres.beside import run_in

FUNCTIONS = """
CREATE SCHEMA citus;
CREATE TABLE citus.pg_dist_partition (
    logicalrelid regclass PRIMARY KEY, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL
);
CREATE TABLE citus.call (number bigserial PRIMARY KEY, said text NOT NULL);
CREATE FUNCTION citus.column_to_column_name(relation regclass, key text) RETURNS text LANGUAGE sql RETURN key;
CREATE FUNCTION citus.create_reference_table(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO citus.call (said) VALUES (format('reference %s', relation));
    IF EXISTS (SELECT FROM citus.pg_dist_partition WHERE logicalrelid = relation) THEN
        RAISE 'table "%" is already distributed', relation USING ERRCODE = 'invalid_table_definition';
    END IF;
    INSERT INTO citus.pg_dist_partition VALUES (relation, 'n', NULL, 1);
END $$;
CREATE FUNCTION citus.create_distributed_table(
    relation regclass, distribution_column text, distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    refused text;
    place int;
BEGIN
    INSERT INTO citus.call (said) VALUES (format('%s by %s with %s', relation, distribution_column, colocate_with));
    IF EXISTS (SELECT FROM citus.pg_dist_partition WHERE logicalrelid = relation) THEN
        RAISE 'table "%" is already distributed', relation USING ERRCODE = 'invalid_table_definition';
    END IF;
    SELECT indexrelid::regclass INTO refused FROM pg_index WHERE indrelid = relation AND (indisunique OR indisexclusion)
        AND NOT EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = relation AND attname = distribution_column
                AND attnum = ANY (indkey::smallint[])
        );
    IF refused IS NOT NULL THEN
        RAISE 'cannot create constraint on "%"', relation USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Distributed relations cannot have UNIQUE, EXCLUDE, or PRIMARY KEY constraints that do not include '
                'the partition column: ' || refused;
    END IF;
    IF colocate_with = 'none' THEN
        SELECT coalesce(max(colocationid), 1) + 1 INTO place FROM citus.pg_dist_partition;
    ELSE
        SELECT colocationid INTO STRICT place FROM citus.pg_dist_partition WHERE logicalrelid = colocate_with::regclass;
        IF (SELECT atttypid FROM pg_attribute WHERE attrelid = relation AND attname = distribution_column) <> (
            SELECT atttypid FROM citus.pg_dist_partition JOIN pg_attribute ON attrelid = logicalrelid AND attname = partkey
            WHERE logicalrelid = colocate_with::regclass
        ) THEN
            RAISE 'cannot colocate tables % and %', colocate_with, relation USING ERRCODE = 'feature_not_supported';
        END IF;
    END IF;
    SELECT conname INTO refused FROM pg_constraint WHERE contype = 'f' AND conrelid = relation AND NOT EXISTS (
        SELECT FROM citus.pg_dist_partition WHERE logicalrelid = confrelid AND colocationid IN (1, place)
    );
    IF refused IS NOT NULL THEN
        RAISE 'cannot create foreign key constraint since relations are not colocated or not referencing a reference table: %',
            refused USING ERRCODE = 'feature_not_supported';
    END IF;
    INSERT INTO citus.pg_dist_partition VALUES (relation, 'h', distribution_column, place);
END $$;
CREATE FUNCTION citus.truncate_local_data_after_distributing_table(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO citus.call (said) VALUES (format('truncate %s', relation));
    IF EXISTS (
        SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid = relation AND conrelid <> relation
            AND NOT EXISTS (SELECT FROM citus.pg_dist_partition WHERE logicalrelid = conrelid)
    ) THEN
        RAISE 'cannot truncate a table referenced in a foreign key constraint by a local table'
            USING ERRCODE = 'feature_not_supported';
    END IF;
END $$;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, citus', current_database()); END $$;
"""
CALLS = "SELECT said FROM citus.call ORDER BY number"
SPREAD_CONVERSATIONS = """
INSERT INTO citus.pg_dist_partition SELECT to_regclass('conversation'), 'h', 'conversation_id', 2
"""


async def fake_citus(dsn: str) -> None:
    """Make the catalog and the functions, and put them on the search_path."""
    await run_in(dsn, FUNCTIONS)


async def calls_of(dsn: str) -> list[str]:
    """Return what the functions were asked, in order."""
    return [row["said"] for row in await run_in(dsn, CALLS)]


async def spread_in_name(dsn: str) -> None:
    """Let the catalog say that the store is distributed: who opens it locks rows."""
    await run_in(dsn, FUNCTIONS, SPREAD_CONVERSATIONS)
