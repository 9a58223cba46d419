"""``Grant``: what a client may do, whichever door it comes through."""

from typing import Final, final

from attrs import frozen

from chatmemory.effect import Effect
from chatmemory.longterm.memories import Namespace
from chatmemory.programs.operations.refusal import Refusal

NO_PAST_CHATS: Final = Refusal("ForbiddenError", "this token is not for past chats")


@final
@frozen(kw_only=True)
class Grant:
    """What a client may do; see ``TokenSettings``.

    Attributes:
        name: of the client's token in the configuration, for logs; in parentheses where there is no such name.
    """

    name: str
    user: str
    app: str = ""
    conversations: str = ""
    past_chats: bool = True
    read_only: bool = False

    def namespace(self, app: str | None) -> Effect[Namespace, Refusal]:
        """Return the namespace in which the client asks, narrowed to *app*; its user is never the client's to choose."""
        if app is None or app == self.app:
            return Effect.succeed(Namespace(self.user, self.app))
        if self.app:
            return Effect.fail(Refusal("ForbiddenError", f"this token is for the app {self.app!r} only"))
        return Effect.succeed(Namespace(self.user, app))

    def conversation(self, conversation_id: str) -> Effect[str, Refusal]:
        """Return *conversation_id* if the client may see it."""
        if conversation_id.startswith(self.conversations):
            return Effect.succeed(conversation_id)
        return Effect.fail(
            Refusal(
                "ForbiddenError",
                f"this token is for conversations whose ids begin with {self.conversations!r}",
            )
        )
