"""``behind_the_door``: an application behind every guard that need not know what is asked of it."""

from starlette.types import ASGIApp

from chatmemory.programs.http.guards.headers import HeaderGuard
from chatmemory.programs.http.guards.hosts import HostGuard
from chatmemory.programs.http.guards.origins import OriginGuard
from chatmemory.programs.http.guards.request_log import RequestLog
from chatmemory.programs.http.guards.targets import TargetGuard
from chatmemory.programs.http.guards.unforeseen import UnforeseenGuard
from chatmemory.settings.server_settings import ServerSettings


def behind_the_door(app: ASGIApp, settings: ServerSettings) -> ASGIApp:
    """Return *app* for those who ask properly, at a name that *settings* know.

    The log is outermost, so that what is refused is logged too; whatever goes wrong further inside gets the headers.
    """
    app = TargetGuard(HostGuard(OriginGuard(app), names=settings.names))
    return RequestLog(HeaderGuard(UnforeseenGuard(app)))
