"""``Namespace``: whose memories or conversations."""

from typing import Final, final

from attrs import frozen


@final
@frozen
class Namespace:
    """Whose memories or conversations: those of a user, in one app or in all apps.

    Attributes:
        user: 1 to 512 characters; a user never sees the memories of another user.
        app: the app that the memories belong to.  A reader with an app sees the memories of that app and those of no
            app (``""``).  A reader without an app sees all memories of the user.
    """

    user: str
    app: str = ""

    def sees(self, other: "Namespace") -> bool:
        """Return whether a reader in this namespace sees what is of the *other* namespace."""
        return self.user == other.user and (not self.app or other.app in {"", self.app})


UNOWNED: Final = Namespace("")
"""Of conversations that were stored for nobody in particular, as programs without ``acting_as`` do."""
