"""``Namespace``: the owner of memories or conversations."""

from typing import Final, final

from attrs import frozen


@final
@frozen
class Namespace:
    """The owner of memories or conversations: a user, in one app or in all apps.

    Attributes:
        user: 1 to 512 characters; a user never sees the memories of another user.
        app: the app that the memories belong to.  A reader with an app sees the memories of that app and those of no
            app (``""``).  A reader without an app sees all memories of the user.
    """

    user: str
    app: str = ""

    def sees(self, other: "Namespace") -> bool:
        """Return whether a reader in this namespace sees data of the *other* namespace."""
        return self.user == other.user and (not self.app or other.app in {"", self.app})


UNOWNED: Final = Namespace("")
"""The owner of conversations without an owner, which programs without ``acting_as`` store."""
