"""Start of the server: sockets, addresses and the browser."""

from __future__ import annotations

import asyncio
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

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from topiarist.display.locale.catalogues import AUTO
from topiarist.errors import UsageError
from topiarist.web.http.safety import LOOPBACK
from topiarist.web.http.server import explorer, make_ready

MAX_CONNECTIONS = 200  # browsers open up to six each
HEADER_TIMEOUT = 10.0  # seconds until a request must have sent its headers
LOCAL = "127.0.0.1"
ANY = ("0.0.0.0", "::")  # noqa: S104
UNREACHABLE_ADDRESSES = {
    socket.AF_INET: "192.0.2.1",
    socket.AF_INET6: "2001:db8::1",
}  # of nobody: only the way there is asked for


class TimeoutProtocol(H11Protocol):
    """Protocol of uvicorn with a limit of connections and a time limit for headers."""

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection and start its time limit; abort it above the maximum number."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        """Read data; start the time limit for incomplete headers, or stop it for complete ones."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._stop_clock()
        elif self._clock is None:  # a word now and then does not set it back
            self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        """Abort the connection after the time limit for headers."""
        self._clock = self.loop.call_later(HEADER_TIMEOUT, self.transport.abort)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


@dataclass(frozen=True)
class ListeningServer:
    """Open sockets of the server, with their addresses and the token."""

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
    token: bool = True,
    token_file: str | None = None,
    language: str = AUTO,
) -> None:
    """Serve a collection until the process is stopped, on this machine or on the address ``remote``.

    ``token``: every address begins with a token, made for this run or read from ``token_file``.
    """
    if token_file is not None and not token:
        raise UsageError("--token-file and --no-token exclude each other", hint="Use --token-file alone.")
    result = open_server(remote, port, token=token, previous_token=load_token(token_file) if token_file else "")
    app = explorer(
        folder,
        read_only=read_only,
        hosts=result.hosts,
        door=result.door,
        local=result.local,
        language=language,
    )
    if not result.local:
        print(
            f"Warning: anyone with this address can read{'' if read_only else ' and change'} the collection, "
            "and nothing on the way is encrypted.",
            file=sys.stderr,
        )
    threading.Thread(target=make_ready, args=(app.state.session,), daemon=True, name="warm").start()
    print(format_startup_message(folder, result), file=sys.stderr)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=2, http=TimeoutProtocol,
    )  # fmt: skip
    with write_launch_file(result) as first:
        if browser and result.local:
            threading.Timer(0.4, webbrowser.open, [first]).start()
        uvicorn.Server(config).run(sockets=list(result.sockets))


@contextmanager
def write_launch_file(server: ListeningServer) -> Iterator[str]:
    """Write a private file that redirects the browser to the address.

    Arguments of processes are visible to all users, and the address holds the token.
    """
    if not server.door:
        yield server.addresses[0]
        return
    with tempfile.TemporaryDirectory(prefix="topiarist-") as folder:  # open to its owner only
        page = Path(folder) / "open.html"
        page.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={server.addresses[0]}"><title>…</title>'
        )
        yield page.as_uri()


def format_startup_message(folder: str, server: ListeningServer) -> str:
    """Return the lines with the addresses of the server and how to stop it."""
    first, *others = server.addresses
    lines = [f"{folder} is open at {first}{f' ({server.note})' if server.note else ''}"]
    lines += [f"On this machine also at {address}" for address in others]
    return "\n".join([*lines, "Stop with Ctrl-C."])


def load_token(path: str) -> str:
    """Read the token in a private file, or create the file. Raise UsageError if it is not private."""
    file = Path(path)
    try:
        with suppress(FileExistsError):
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as new:
                new.write(f"{secrets.token_urlsafe(24)}\n")
        result, mode = file.read_text(encoding="utf-8").strip(), file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read a token from {path}: {error}", hint="Pass another file, or omit it.") from error
    if os.name == "posix" and mode & 0o077:
        raise UsageError(f"other users can read the token in {path}", hint=f"Run chmod 600 {path}.")
    if not re.fullmatch(r"[\w-]{16,200}", result, re.ASCII):
        expected = "a token of 16 to 200 letters, digits, - and _"
        raise UsageError(
            f"expected {expected} in {path}; it holds something else",
            hint="Delete the file. The next start creates one.",
        )
    return result


def open_server(remote: str | None, port: int, *, token: bool = True, previous_token: str = "") -> ListeningServer:
    """Open the sockets of the server. Raise UsageError for a public address without a token.

    Without a token only this machine can ask. ``previous_token``: an existing token.
    """
    host = remote or LOCAL
    local = host in LOOPBACK
    if not (local or token):
        raise UsageError("an address that others can reach requires a token", hint="Omit --no-token.")
    door = (previous_token or secrets.token_urlsafe(24)) if token else ""
    first = bind_socket(host, port)
    number = first.getsockname()[1]
    if local:
        return ListeningServer((first,), (_format_address(host, number, door),), LOOPBACK, door)
    shown, note = host, ""
    if host in ANY:
        shown = find_reachable_address(first.family)
        note = "a guess: the address of this machine on the way out" if shown else "no other address was found"
    sockets = (first,) if host == ANY[0] else (first, *_listen_locally(number))
    names = [name for name in (shown, LOCAL if host == ANY[0] or len(sockets) > 1 else "") if name]
    hosts = ("*",) if host in ANY else (*LOOPBACK, _format_host(host))
    return ListeningServer(
        sockets, tuple(_format_address(name, number, door) for name in names or [host]), hosts, door, note, local=False
    )


def _listen_locally(port: int) -> tuple[socket.socket, ...]:
    """Return a local socket on the same port; empty if the port is taken."""
    try:
        return (bind_socket(LOCAL, port),)
    except UsageError:
        return ()


def find_reachable_address(family: int) -> str:
    """Return the address of this machine in the network; empty if unknown. No packet is sent."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((UNREACHABLE_ADDRESSES[socket.AddressFamily(family)], 9))
        except OSError:
            return ""
        result = str(probe.getsockname()[0])
        return "" if result in ANY else result


def _format_address(host: str, port: int, door: str = "") -> str:
    return f"http://{_format_host(host)}:{port}/{door}{'/' if door else ''}"


def _format_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raise UsageError if the address or port is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    result = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sends without delay on TCP
    result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if family == socket.AF_INET6:
            result.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # the other kind has a socket of its own
        result.bind((host, port))
        result.listen(128)  # clients may connect as soon as the address is printed
    except OSError as error:
        result.close()
        raise UsageError(
            f"cannot listen on {host}, port {port}: {error.strerror}", hint="Use --port 0 to choose a free port."
        ) from error
    return result
