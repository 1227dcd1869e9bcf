"""Starting the server: a socket, the address, the browser."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import webbrowser

import uvicorn

from topiarist.app.explorer.safety import LOOPBACK
from topiarist.app.explorer.server import explorer
from topiarist.errors import UsageError

LOCAL = "127.0.0.1"


def serve(
    folder: str,
    *,
    port: int = 0,
    browser: bool = True,
    read_only: bool = False,
    remote: str | None = None,
    beside: tuple[str, ...] = (),
) -> None:
    """Serve until somebody stops it. Nobody but this machine can ask, unless ``remote`` names another address.

    ``beside``: other collections to compare it with.
    """
    host = remote or LOCAL
    door = "" if host in LOOPBACK else secrets.token_urlsafe(24)
    listening = bound(host, port)
    name = f"[{host}]" if ":" in host else host
    hosts: tuple[str, ...] = (*LOOPBACK, name) if door else LOOPBACK
    if host in ("0.0.0.0", "::"):  # noqa: S104
        hosts = ("*",)
    app = explorer(folder, read_only=read_only, hosts=hosts, door=door, beside=beside)
    address = f"http://{name}:{listening.getsockname()[1]}/{door}{'/' if door else ''}"
    if door:
        print(
            f"Warning: everybody who has this address can read{'' if read_only else ' and change'} the collection, "
            "and nothing on the way is encrypted.",
            file=sys.stderr,
        )
    threading.Thread(target=app.state.desk.view().warm, daemon=True, name="warm").start()
    print(f"{folder} is open at {address}\nStop with Ctrl-C.", file=sys.stderr)
    if browser and not door:
        threading.Timer(0.4, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False, timeout_graceful_shutdown=2
    )
    uvicorn.Server(config).run(sockets=[listening])


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no delay for TCP it is told of
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)  # whoever is told the address may ask at once
    except OSError as error:
        found.close()
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}", hint="--port 0") from error
    return found
