"""A language model that the user has: a program, or a server on this machine, asked one question at a time.

Nothing is asked unless somebody says whom: a prompt holds words and titles of documents. A program is started without
a shell. A server is spoken to directly, whatever proxies the environment names, and never followed to another address.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import IO
from urllib.parse import SplitResult, quote, urlsplit

from topiarist.errors import ResourceError, UsageError

CHAT = "/chat/completions"
EXAMPLE = "http://127.0.0.1:8080/v1"
MOST_BYTES = 1 << 20  # of an answer: more is no name
PATIENCE = 60.0  # seconds for an answer, unless somebody says otherwise
PIECE = 1 << 16


class UnansweredError(ResourceError):
    """A program or a server that gave no answer to one question; the next one may be answered."""


@dataclass(frozen=True)
class Program:
    """A program that reads a prompt from its standard input and answers on its standard output."""

    command: tuple[str, ...]
    timeout: float = PATIENCE

    @classmethod
    def of(cls, line: str, timeout: float = PATIENCE) -> Program:
        """The program of a line as it would be typed: split into words as a shell does, and run without one."""
        try:
            command = tuple(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"the command {line!r} cannot be split into words: {error}", hint="close the quote") from (
                error
            )
        if not command or not command[0]:
            raise UsageError("expected a program, got an empty command", hint="--with 'PROGRAM OPTION…'")
        if shutil.which(command[0]) is None:
            raise UsageError(f"there is no program called {command[0]!r}", hint="its full path")
        return cls(command, timeout)

    def ask(self, prompt: str) -> str:
        """What the program says to a prompt; it is ended, with all that it started, if it takes too long."""
        deadline = time.monotonic() + self.timeout
        try:
            running = subprocess.Popen(  # noqa: S603 (what the user asked for, and no shell)
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or "not a command"
            raise UnansweredError(f"the program cannot be started ({said.lower()})") from error
        heard = bytearray()
        talking = threading.Thread(target=_tell, args=(running.stdin, prompt.encode("utf-8", "replace")), daemon=True)
        listening = threading.Thread(target=_hear, args=(running.stdout, heard), daemon=True)
        try:
            talking.start()
            listening.start()
            listening.join(self.timeout)
            if listening.is_alive():
                raise UnansweredError(f"the program took longer than {self.timeout:g} seconds")
            if len(heard) > MOST_BYTES:
                raise UnansweredError(f"the program said more than {MOST_BYTES:,} bytes")
            code = running.wait(max(deadline - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired as error:
            raise UnansweredError(f"the program took longer than {self.timeout:g} seconds") from error
        finally:
            if running.returncode is None:
                _end(running)
        if code:
            raise UnansweredError(f"the program failed (exit code {code})")
        return heard.decode("utf-8", "replace")


def _tell(stdin: IO[bytes] | None, prompt: bytes) -> None:
    """Write the prompt; whoever does not read it may still answer."""
    if stdin is not None:
        try:
            with stdin:
                stdin.write(prompt)
        except (OSError, ValueError):
            return


def _hear(stdout: IO[bytes] | None, heard: bytearray) -> None:
    """Read until there is no more, or too much."""
    if stdout is not None:
        with stdout:
            while len(heard) <= MOST_BYTES and (piece := os.read(stdout.fileno(), PIECE)):
                heard += piece


def _end(running: subprocess.Popen[bytes]) -> None:
    """End a program that was not waited for yet, and what it started: its number is still its own."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(running.pid, signal.SIGKILL)
        else:
            running.kill()
    except OSError:
        running.kill()
    running.wait()


@dataclass(frozen=True)
class Server:
    """A server with the chat-completions interface."""

    host: str
    port: int | None
    target: str  # path and query
    model: str = ""
    timeout: float = PATIENCE
    secure: bool = False
    remote: bool = False  # may be another machine

    @classmethod
    def of(cls, url: str, model: str = "", timeout: float = PATIENCE, *, allow_remote: bool = False) -> Server:
        """The server at an address: on this machine, unless another one is allowed."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise UsageError(f"{url!r} is not an address of a server: {error}", hint=EXAMPLE) from error
        if parts.scheme not in ("http", "https") or not host or parts.username is not None or _unsafe(url):
            raise UsageError(f"expected the address of a server, got {url!r}", hint=EXAMPLE)
        if not allow_remote and (parts.scheme != "http" or not _is_this_machine(host)):
            raise UsageError(
                f"{url} is not http on this machine: titles and words of your documents would leave it",
                hint=f"{EXAMPLE}, or --allow-remote",
            )
        return cls(host, port, _target(parts), model, timeout, parts.scheme == "https", allow_remote)

    def ask(self, prompt: str) -> str:
        """What the server says to a prompt."""
        body = json.dumps({"model": self.model, "messages": [{"role": "user", "content": prompt}], "stream": False})
        late = threading.Event()
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=self.timeout)
        try:
            connection.connect()
            if not self.remote and not _is_this_machine(str(connection.sock.getpeername()[0])):
                raise UnansweredError(f"{self.host} is another machine: nothing was sent")
            clock = threading.Timer(self.timeout, _hang_up, (connection.sock, late))
            clock.daemon = True
            clock.start()
            try:
                headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
                connection.request("POST", self.target, body.encode("ascii"), headers)
                response = connection.getresponse()
                status, said = response.status, response.read(MOST_BYTES + 1)
            finally:
                clock.cancel()
        except (OSError, http.client.HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise UnansweredError(f"the server took longer than {self.timeout:g} seconds") from error
            what = (getattr(error, "strerror", None) or "not an answer of a web server").lower()
            raise UnansweredError(f"the server cannot be asked ({what})") from error
        finally:
            connection.close()
        if late.is_set():
            raise UnansweredError(f"the server took longer than {self.timeout:g} seconds")
        return _content(status, said)


def _hang_up(line: socket.socket, late: threading.Event) -> None:
    """End a conversation that takes too long, however slowly the other side goes on."""
    late.set()
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _content(status: int, said: bytes) -> str:
    """The message in an answer of the chat-completions interface."""
    if status != HTTPStatus.OK:
        raise UnansweredError(f"the server answered with status {status}, expected 200")
    if len(said) > MOST_BYTES:
        raise UnansweredError(f"the server said more than {MOST_BYTES:,} bytes")
    try:
        body = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise UnansweredError("the server's answer is not JSON") from error
    match body:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
    raise UnansweredError("the server's answer has no choices[0].message.content")


def _is_this_machine(host: str) -> bool:
    """Whether a name or a number is that of this very machine, and cannot be another's."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def _unsafe(url: str) -> bool:
    """Whether there are signs in it that no address has."""
    return re.search(r"[\x00-\x20\x7f\\]", url) is not None


def _target(parts: SplitResult) -> str:
    """The path to ask, and the query of the address if it has one."""
    path = parts.path.rstrip("/")
    whole = (path if path.endswith(CHAT) else path + CHAT) + (f"?{parts.query}" if parts.query else "")
    return quote(whole, safe="/%:@!$&'()*+,;=~-._?")
