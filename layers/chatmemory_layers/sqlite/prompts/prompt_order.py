"""The order of a conversation that several sources hold: Codex and Claude Code continue one in further files.

A reader numbers the turns of its source from 0.  If a conversation has turns of several sources, ``place`` keeps that number,
and ``turn_index`` counts over all of them: by time, but never against the order within a source.
"""

from typing import Final

IN_TIME: Final = """
CASE WHEN timestamp > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+5 minutes') AND timestamp < ':' THEN NULL ELSE timestamp END
"""
"""The time of a turn; NULL for one in the future, which is a mistake and orders nothing."""

_NUMBER: Final = """
UPDATE prompts SET turn_index = ordered.number, place = ordered.place
FROM (
    SELECT id, place, row_number() OVER (
        PARTITION BY conversation_id ORDER BY reached, source_path, place, id
    ) - 1 AS number
    FROM (
        SELECT id, conversation_id, source_path, coalesce(place, turn_index) AS place, max({said_at}) OVER (
            PARTITION BY conversation_id, source_path ORDER BY coalesce(place, turn_index), id
        ) AS reached
        FROM prompts
        WHERE conversation_id IN (
            SELECT conversation_id FROM prompts WHERE conversation_id IN ({which})
            GROUP BY conversation_id HAVING min(source_path) <> max(source_path) OR count(place) > 0
        )
    )
) AS ordered
WHERE prompts.id = ordered.id AND (prompts.turn_index, prompts.place) IS NOT (ordered.number, ordered.place)
"""
NUMBER_STAGED: Final = _NUMBER.format(
    said_at=IN_TIME,
    which="SELECT conversation_id FROM staging.staged_turns WHERE fate IN ('new', 'updated', 'moved')",
)
"""Numbers the conversations of the staged turns."""

# Until this step, a subagent's conversation had a short id, which agents of other sessions have too.
NAME_AGENTS: Final = """
UPDATE prompts SET conversation_id =
    'claude_code:' || json_extract(metadata_json, '$.parent_session') || '/' || substr(conversation_id, 13)
WHERE conversation_id >= 'claude_code:agent-' AND conversation_id < 'claude_code:agent.'
    AND json_extract(metadata_json, '$.parent_session') IS NOT NULL
"""
ORDER_STATEMENTS: Final = (
    "ALTER TABLE prompts ADD COLUMN place INTEGER",
    NAME_AGENTS,
    _NUMBER.format(said_at=IN_TIME, which="SELECT conversation_id FROM prompts"),
)
"""The statements that give the conversations of an existing file one order."""
