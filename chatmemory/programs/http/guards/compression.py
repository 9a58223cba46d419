"""``Compressed``: answers in fewer bytes for those who take gzip, which browsers and HTTP clients do.

Compression can give a secret away (BREACH) where somebody else's page makes a browser ask with the credentials of its
user, has words of its own repeated beside the secret, and sees how long the answer is.  Here no answer holds a token; a
token stands in a header that no browser adds by itself; and a page of another origin is refused, whatever it asks.
"""

from typing import Final, final

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.guards.sent_headers import header_values

LEAST_BYTES: Final = 1_400
"""What fits one packet takes as long uncompressed."""
LEVEL: Final = 5
"""Of 1 to 9: 200 KB of the page become 60 KB in 12 ms; 9 takes half as long again, for 2 % less."""


@final
class Compressed:
    """Gives the answers of *app* compressed; not for streams, whose beginning would wait for what follows.

    What takes long, from 128 KiB on, is done in a thread while others are answered.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._compressing = GZipMiddleware(app, minimum_size=LEAST_BYTES, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        # The middleware takes 12 us of each answer that it leaves as it is.
        takes_gzip = any("gzip" in value for value in header_values(scope, b"accept-encoding"))
        await (self._compressing if takes_gzip else self.app)(scope, receive, send)
