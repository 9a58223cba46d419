"""What an endpoint for embeddings may answer: vectors, and the ways in which it fails to give any."""

import base64
import struct
from collections.abc import Sequence
from typing import Final

from chatmemory.errors import EmbeddingProblem
from tests.http_server import Reply


def data(*vectors: object) -> list[object]:
    return [{"object": "embedding", "index": place, "embedding": each} for place, each in enumerate(vectors)]


def embeddings(*vectors: object) -> Reply:
    """Answer with *vectors*, as lists of numbers or in base64."""
    return Reply.json({"object": "list", "data": data(*vectors), "model": "small"})


def in_base64(numbers: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


NAN = b'{"data": [{"embedding": [NaN, 1]}]}'

MISBEHAVIOURS: Final[dict[str, tuple[Reply, EmbeddingProblem]]] = {
    "one vector too few": (embeddings(), "wrong_count"),
    "no data": (Reply.json({"object": "list"}), "malformed"),
    "404 with JSON": (Reply.json({"error_msg": "Not Found. Please check ..."}, status=404), "not_found"),
    "404 with an empty body": (Reply(status=404), "not_found"),
    "418 from a firewall": (Reply.json({"error": "Requested Resource Not Found"}, status=418), "refused"),
    "200 with an error": (Reply.json({"error": {"message": "no model", "code": "no_model"}}), "refused"),
    "200 with HTML": (Reply(b"<html>", headers={"content-type": "text/html"}), "malformed"),
    "NaN in a vector": (Reply(NAN), "not_finite"),
    "500": (Reply(status=500), "unavailable"),
    "a vector of vectors": (embeddings([[1.0], [2.0]]), "malformed"),
    "an empty vector": (embeddings([]), "wrong_dimension"),
    "silence": (Reply(misbehaviour="hang"), "timeout"),
    "JSON that breaks off": (Reply(b'{"data": [{"embedding": [1, 2'), "malformed"),
    "a connection that breaks off": (Reply(b'{"data"', misbehaviour="truncate"), "unavailable"),
    "nobody": (Reply(misbehaviour="hang_up"), "unavailable"),
}
"""For one text: what comes back, and the problem that it is."""
