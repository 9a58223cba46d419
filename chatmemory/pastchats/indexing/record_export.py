"""Export: every turn as a JSON object, one after the other, without holding them all."""

from collections.abc import Callable

from chatmemory.effect import Effect, EffectFailed
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.indexing.prompt_record_json import record_object
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.pastchats.prompt_repository import PromptRepository


def exported(
    repository: PromptRepository, which: PromptFilter, to: Callable[[JsonObject], None]
) -> Effect[int, GenericMemoryError]:
    """Give *to* each turn that *which* means, and return how many."""

    async def run() -> Outcome[int, GenericMemoryError]:
        count = 0
        records = repository.records(which)
        while True:
            try:
                record = next(records, None)
            except EffectFailed as failed:
                if isinstance(failed.error, RepositoryError):
                    return Failure(GenericMemoryError(failed.error))
                raise
            if record is None:
                return Success(count)
            to(record_object(record))
            count += 1

    return Effect.from_outcome(run)
