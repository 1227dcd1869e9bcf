"""Language model of the user that proposes names: a program, or a server on this machine.

It is used only on request, because a prompt contains words and titles of documents. A program is started without a
shell. A server is contacted directly, without proxies of the environment, and redirects are not followed.
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
MAX_BYTES = 1 << 20  # of an answer; a longer one is not a name
PATIENCE = 60.0  # seconds to wait for an answer by default
CHUNK = 1 << 16


class UnansweredError(ResourceError):
    """Error of a program or server that did not answer one prompt; the next one may succeed."""


@dataclass(frozen=True)
class NamingProgram:
    """Program that reads a prompt from standard input and answers on standard output."""

    command: tuple[str, ...]
    timeout: float = PATIENCE

    @classmethod
    def of(cls, line: str, timeout: float = PATIENCE) -> NamingProgram:
        """Return the program of a command line, split as a shell does and run without a shell."""
        try:
            command = tuple(shlex.split(line))
        except ValueError as error:
            raise UsageError(
                f"the command {line!r} cannot be split into words: {error}", hint="Close the quote."
            ) from (error)
        if not command or not command[0]:
            raise UsageError(
                "expected a program, got an empty command",
                hint="Pass the program with its options, as in --with 'PROGRAM OPTION…'.",
            )
        if shutil.which(command[0]) is None:
            raise UsageError(f"there is no program called {command[0]!r}", hint="Use its full path.")
        return cls(command, timeout)

    def ask(self, prompt: str) -> str:
        """Return the answer of the program; kill it with its child processes after the timeout."""
        deadline = time.monotonic() + self.timeout
        try:
            process = subprocess.Popen(  # noqa: S603 (what the user asked for, and no shell)
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a command"
            raise UnansweredError(f"the program cannot be started ({reason.lower()})") from error
        answer = bytearray()
        writer = threading.Thread(
            target=_write_prompt, args=(process.stdin, prompt.encode("utf-8", "replace")), daemon=True
        )
        reader = threading.Thread(target=_read_answer, args=(process.stdout, answer), daemon=True)
        try:
            writer.start()
            reader.start()
            reader.join(self.timeout)
            if reader.is_alive():
                raise UnansweredError(f"the program took longer than {self.timeout:g} seconds")
            if len(answer) > MAX_BYTES:
                raise UnansweredError(f"the answer of the program exceeds {MAX_BYTES:,} bytes")
            code = process.wait(max(deadline - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired as error:
            raise UnansweredError(f"the program took longer than {self.timeout:g} seconds") from error
        finally:
            if process.returncode is None:
                _end_process(process)
        if code:
            raise UnansweredError(f"the program failed (exit code {code})")
        return answer.decode("utf-8", "replace")


def _write_prompt(stdin: IO[bytes] | None, prompt: bytes) -> None:
    """Write the prompt; ignore a program that does not read it."""
    if stdin is not None:
        try:
            with stdin:
                stdin.write(prompt)
        except (OSError, ValueError):
            return


def _read_answer(stdout: IO[bytes] | None, answer: bytearray) -> None:
    if stdout is not None:
        with stdout:
            while len(answer) <= MAX_BYTES and (chunk := os.read(stdout.fileno(), CHUNK)):
                answer += chunk


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its child processes, and wait until it has ended.

    The caller has not waited for it, so that its process id is still valid.
    """
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:
        process.kill()
    process.wait()


@dataclass(frozen=True)
class NamingServer:
    """Server with the chat-completions interface."""

    host: str
    port: int | None
    target: str  # path and query
    model: str = ""
    timeout: float = PATIENCE
    secure: bool = False
    remote: bool = False  # may be another machine

    @classmethod
    def of(cls, url: str, model: str = "", timeout: float = PATIENCE, *, allow_remote: bool = False) -> NamingServer:
        """Return the server at a URL, on this machine unless ``allow_remote`` is true."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise UsageError(
                f"{url!r} is not an address of a server: {error}", hint=f"Use an address such as {EXAMPLE}."
            ) from error
        unsafe = re.search(r"[\x00-\x20\x7f\\]", url)
        if parts.scheme not in ("http", "https") or not host or parts.username is not None or unsafe:
            raise UsageError(
                f"expected the address of a server, got {url!r}", hint=f"Use an address such as {EXAMPLE}."
            )
        if not allow_remote and (parts.scheme != "http" or not _is_this_machine(host)):
            raise UsageError(
                f"{url} is not http on this machine: titles and words of your documents would leave it",
                hint=f"Use a server such as {EXAMPLE}, or allow a remote one (--allow-remote).",
            )
        return cls(host, port, _target(parts), model, timeout, parts.scheme == "https", allow_remote)

    def ask(self, prompt: str) -> str:
        """Return the answer of the server; raise UnansweredError after the timeout or a failure."""
        body = json.dumps({"model": self.model, "messages": [{"role": "user", "content": prompt}], "stream": False})
        is_late = threading.Event()
        connection_class = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        connection = connection_class(self.host, self.port, timeout=self.timeout)
        try:
            connection.connect()
            if not self.remote and not _is_this_machine(str(connection.sock.getpeername()[0])):
                raise UnansweredError(f"{self.host} is another machine: nothing was sent")
            clock = threading.Timer(self.timeout, _close_late, (connection.sock, is_late))
            clock.daemon = True
            clock.start()
            try:
                headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
                connection.request("POST", self.target, body.encode("ascii"), headers)
                response = connection.getresponse()
                status, answer = response.status, response.read(MAX_BYTES + 1)
            finally:
                clock.cancel()
        except (OSError, http.client.HTTPException, ValueError) as error:
            if is_late.is_set() or isinstance(error, TimeoutError):
                raise UnansweredError(f"the server took longer than {self.timeout:g} seconds") from error
            reason = (getattr(error, "strerror", None) or "not an answer of a web server").lower()
            raise UnansweredError(f"the server cannot be asked ({reason})") from error
        finally:
            connection.close()
        if is_late.is_set():
            raise UnansweredError(f"the server took longer than {self.timeout:g} seconds")
        return _parse_answer(status, answer)


def _close_late(connection: socket.socket, is_late: threading.Event) -> None:
    """Close a connection after the timeout, even if data still arrives slowly."""
    is_late.set()
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _parse_answer(status: int, answer: bytes) -> str:
    """Return the text in a server answer; raise UnansweredError for any other answer."""
    if status != HTTPStatus.OK:
        raise UnansweredError(f"the server answered with status {status}, expected 200")
    if len(answer) > MAX_BYTES:
        raise UnansweredError(f"the answer of the server exceeds {MAX_BYTES:,} bytes")
    try:
        body = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise UnansweredError("the server's answer is not JSON") from error
    match body:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
    raise UnansweredError("the server's answer has no choices[0].message.content")


def _is_this_machine(host: str) -> bool:
    """Return whether a host name or address always means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def _target(parts: SplitResult) -> str:
    path = parts.path.rstrip("/")
    target = (path if path.endswith(CHAT) else path + CHAT) + (f"?{parts.query}" if parts.query else "")
    return quote(target, safe="/%:@!$&'()*+,;=~-._?")
