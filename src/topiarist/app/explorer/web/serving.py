"""Starting the server: sockets, addresses that can be opened, the browser."""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from topiarist.app.explorer.web.connections import Hurried
from topiarist.app.explorer.web.safety import LOOPBACK
from topiarist.app.explorer.web.server import explorer, make_ready
from topiarist.app.languages.catalogues import AUTO
from topiarist.errors import UsageError

LOCAL = "127.0.0.1"
ANY = ("0.0.0.0", "::")  # noqa: S104
ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # of nobody: only the way there is asked for


@dataclass(frozen=True)
class Opened:
    """What is listened on, and what there is to say about it."""

    sockets: tuple[socket.socket, ...]
    addresses: tuple[str, ...]  # the best one first
    hosts: tuple[str, ...]  # names that are answered to
    door: str  # the token with which every address begins; empty: whoever is on this machine may ask
    note: str = ""
    local: bool = True  # nobody but this machine can ask


def serve(
    folder: str,
    *,
    port: int = 0,
    browser: bool = True,
    read_only: bool = False,
    remote: str | None = None,
    beside: tuple[str, ...] = (),
    token: bool = True,
    token_file: str | None = None,
    language: str = AUTO,
) -> None:
    """Serve until somebody stops it. Nobody but this machine can ask, unless ``remote`` names another address.

    ``beside``: other collections to compare it with. ``token``: who else is on this machine must know the address,
    which begins with a token that is made for this run, or stands in ``token_file``.
    """
    if token_file is not None and not token:
        raise UsageError("--token-file and --no-token exclude each other", hint="--token-file alone")
    found = opened(remote, port, token=token, kept=kept_token(token_file) if token_file else "")
    app = explorer(
        folder,
        read_only=read_only,
        hosts=found.hosts,
        door=found.door,
        beside=beside,
        local=found.local,
        language=language,
    )
    if not found.local:
        print(
            f"Warning: everybody who has this address can read{'' if read_only else ' and change'} the collection, "
            "and nothing on the way is encrypted.",
            file=sys.stderr,
        )
    threading.Thread(target=make_ready, args=(app.state.session,), daemon=True, name="warm").start()
    print(told(folder, found), file=sys.stderr)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=2, http=Hurried,
    )  # fmt: skip
    with way_in(found) as first:
        if browser and found.local:
            threading.Timer(0.4, webbrowser.open, [first]).start()
        uvicorn.Server(config).run(sockets=list(found.sockets))


@contextmanager
def way_in(found: Opened) -> Iterator[str]:
    """What a browser is started with: a file that only we may read and that leads on to the address.

    An address would stand in the list of processes, which everybody on this machine may read, with its token.
    """
    if not found.door:
        yield found.addresses[0]
        return
    with tempfile.TemporaryDirectory(prefix="topiarist-") as folder:  # open to its owner only
        page = Path(folder) / "open.html"
        page.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={found.addresses[0]}"><title>…</title>'
        )
        yield page.as_uri()


def told(folder: str, found: Opened) -> str:
    """Where the collection is open, and how to stop that."""
    first, *others = found.addresses
    lines = [f"{folder} is open at {first}{f' ({found.note})' if found.note else ''}"]
    lines += [f"On this machine also at {address}" for address in others]
    return "\n".join([*lines, "Stop with Ctrl-C."])


def kept_token(path: str) -> str:
    """The token in a file that nobody but its owner may read; made where there is none."""
    file = Path(path)
    try:
        with suppress(FileExistsError):
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as new:
                new.write(f"{secrets.token_urlsafe(24)}\n")
        found, mode = file.read_text(encoding="utf-8").strip(), file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read a token from {path}: {error}", hint="another file, or none") from error
    if os.name == "posix" and mode & 0o077:
        raise UsageError(f"others may read the token in {path}", hint=f"chmod 600 {path}")
    if not re.fullmatch(r"[\w-]{16,200}", found, re.ASCII):
        expected = "a token of 16 to 200 letters, digits, - and _"
        raise UsageError(f"expected {expected} in {path}; it holds something else", hint="delete it, and one is made")
    return found


def opened(remote: str | None, port: int, *, token: bool = True, kept: str = "") -> Opened:
    """Sockets that listen: on this machine always, and on the address that somebody named beside.

    Without a token whoever is on this machine gets in; others never do. ``kept``: the token, where somebody has one.
    """
    host = remote or LOCAL
    local = host in LOOPBACK
    if not (local or token):
        raise UsageError("an address for others needs its token", hint="without --no-token")
    door = (kept or secrets.token_urlsafe(24)) if token else ""
    first = bound(host, port)
    number = first.getsockname()[1]
    if local:
        return Opened((first,), (_address(host, number, door),), LOOPBACK, door)
    shown, note = host, ""
    if host in ANY:
        shown = reachable(first.family)
        note = "a guess: the address of this machine on the way out" if shown else "no other address was found"
    sockets = (first,) if host == ANY[0] else (first, *_beside(number))
    names = [name for name in (shown, LOCAL if host == ANY[0] or len(sockets) > 1 else "") if name]
    hosts = ("*",) if host in ANY else (*LOOPBACK, _name(host))
    return Opened(
        sockets, tuple(_address(name, number, door) for name in names or [host]), hosts, door, note, local=False
    )


def _beside(port: int) -> tuple[socket.socket, ...]:
    """This machine's own address with the same number, unless somebody has that."""
    try:
        return (bound(LOCAL, port),)
    except UsageError:
        return ()


def reachable(family: int) -> str:
    """The address of this machine by which it would speak to others; nothing if there is no way out.

    Nothing is sent: the system only tells which way it would take.
    """
    with socket.socket(family, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect((ELSEWHERE[socket.AddressFamily(family)], 9))
        except OSError:
            return ""
        found = str(asked.getsockname()[0])
        return "" if found in ANY else found


def _address(host: str, port: int, door: str = "") -> str:
    return f"http://{_name(host)}:{port}/{door}{'/' if door else ''}"


def _name(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no delay for TCP it is told of
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # the other kind has a socket of its own
        found.bind((host, port))
        found.listen(128)  # whoever is told the address may ask at once
    except OSError as error:
        found.close()
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}", hint="--port 0") from error
    return found
