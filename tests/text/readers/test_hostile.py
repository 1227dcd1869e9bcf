"""Files that crash, hang or fill the memory cost one document; processes end when the reading does."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import tracemalloc
from pathlib import Path

import pytest

from tests.text.readers.makers import only, pdf, reasons
from topiarist.errors import UsageError
from topiarist.text.parsers import pool, protocol, sandbox
from topiarist.text.readers import Limits, read

# A worker whose parser does what the file says. Its answer is what it read and the number of its process.
ACTING = textwrap.dedent("""
    import os, sys, time
    sys.path[:] = sys.argv[1:]
    from topiarist.text.parsers.limits import Extracted
    from topiarist.text.parsers.worker import serve

    def act(source, limits):
        word = open(source).read()
        if word == "hang":
            time.sleep(60)
        elif word == "crash":
            os.abort()
        elif word == "leave":
            os._exit(3)
        elif word == "eat":
            bytearray(limits.memory_bytes)
        elif word == "recurse":
            act_again = lambda: act_again()
            act_again()
        elif word == "raise":
            raise KeyError("odd")
        elif word == "babble":
            print("x" * 100_000, flush=True)
            os.write(1, b"x" * 100_000)
        elif word == "flood":
            return Extracted("x" * 10_000)
        elif word.startswith("call"):
            import socket
            socket.create_connection(("127.0.0.1", int(word.split()[1])), timeout=5)
        elif word.startswith("sleep"):
            time.sleep(0.2)
        return Extracted(f"{word} {os.getpid()}")

    serve({"pdf": act})
""")


@pytest.fixture
def acting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "worker_command", lambda: [sys.executable, "-c", ACTING, *filter(None, sys.path)])


def scripts(folder: Path, *words: str) -> Path:
    folder.mkdir()
    for number, word in enumerate(words):
        (folder / f"{number:02d}.pdf").write_text(word)
    return folder


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def gone(processes: set[int]) -> bool:
    for _ in range(3000):  # a minute on a quiet machine: the end of a process is not to be hurried
        if not any(map(is_alive, processes)):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.usefixtures("acting")
def test_parser_failures_cost_one_document(tmp_path: Path) -> None:
    folder = scripts(tmp_path / "m", "a", "crash", "b", "hang", "c", "leave", "eat", "recurse", "raise", "babble", "d")
    limits = Limits(seconds=2.0, memory_bytes=600 << 20)
    reading = read(folder, limits=limits)
    words = [document.text.split()[0] for document in reading]
    assert words == ["a", "b", "c", "babble", "d"]
    assert reasons(reading) == [
        "01.pdf: the parser crashed (SIGABRT)",
        "03.pdf: took longer than 2 s",
        "05.pdf: the parser stopped (exit code 3)",
        "06.pdf: needs more than 600 MB of memory",
        "07.pdf: nested too deeply",
        "08.pdf: could not be parsed: there is no 'odd'",
    ]
    assert reading.counts.failed == 6


@pytest.mark.usefixtures("acting")
def test_workers_reused_and_few(tmp_path: Path) -> None:
    folder = scripts(tmp_path / "m", *(f"sleep{n}" for n in range(6)))
    documents = [document.text.split() for document in read(folder, limits=Limits(workers=2))]
    assert [word for word, _ in documents] == [f"sleep{n}" for n in range(6)]
    assert len({process for _, process in documents}) == 2
    assert gone({int(process) for _, process in documents})


@pytest.mark.usefixtures("acting")
def test_workers_replaced_regularly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_TASKS_PER_WORKER", 3)  # the greeting is the first
    folder = scripts(tmp_path / "m", "a", "b", "c", "d")
    processes = [document.text.split()[1] for document in read(folder, limits=Limits(workers=1))]
    assert processes[0] == processes[1] != processes[2] == processes[3]


@pytest.mark.usefixtures("acting")
@pytest.mark.parametrize("way", ["with block", "abandoned loop", "document limit"])
def test_early_exit_ends_workers(tmp_path: Path, way: str) -> None:
    folder = scripts(tmp_path / "m", "a", "hang", "hang", "hang")
    if way == "with block":
        with read(folder) as reading:
            stream = iter(reading)
            document = next(stream)
    elif way == "abandoned loop":
        document = next(iter(read(folder)))
    else:
        document = only(read(folder, limit=1))
    assert gone({int(document.text.split()[1])})


def test_keyboard_interrupt_ends_workers(tmp_path: Path) -> None:
    """While a worker hangs. The signal goes to the reader alone, so the workers end by its hand."""
    scripts(tmp_path / "m", "a", "hang", "hang")
    (tmp_path / "worker.py").write_text(ACTING)
    code = textwrap.dedent("""
        import sys
        from topiarist.text.parsers import pool, protocol, sandbox
        pool.worker_command = lambda: [sys.executable, "worker.py", *filter(None, sys.path)]
        from topiarist.text.readers import read
        for document in read("m"):
            print(document.text.split()[1], flush=True)
    """)
    reader = subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background would ignore it
    )
    process = int(reader.stdout.readline())
    reader.send_signal(signal.SIGINT)
    _, said = reader.communicate(timeout=600)
    assert "KeyboardInterrupt" in said
    assert gone({process})


@pytest.mark.usefixtures("acting")
def test_oversized_worker_answer_rejected(tmp_path: Path) -> None:
    document = only(reading := read(scripts(tmp_path / "m", "flood"), limits=Limits(characters=1000)))
    assert document.text == "x" * 1000
    assert reasons(reading) == ["00.pdf: only the first 1,000 characters are kept"]


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        bytes(11),
        (2).to_bytes(4, "big") + (101).to_bytes(8, "big") + b"{}" + bytes(101),  # more than asked for
        (2**31).to_bytes(4, "big") + bytes(8),
        (2).to_bytes(4, "big") + bytes(8) + b"[]",
        (2).to_bytes(4, "big") + bytes(8) + b"{x",
    ],
)
def test_receive_rejects_broken_frames(frame: bytes) -> None:
    with pytest.raises(protocol.BrokenFrameError):
        protocol.receive(io.BytesIO(frame), 100)


def test_frames_round_trip() -> None:
    pipe = io.BytesIO()
    protocol.send(pipe, {"path": "odd\udc80 ☃", "n": 1}, b"payload")
    pipe.seek(0)
    assert protocol.receive(pipe, 7) == ({"path": "odd\udc80 ☃", "n": 1}, b"payload")


def test_invalid_worker_answer_becomes_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    greet_then_lie = textwrap.dedent("""
        import sys
        sys.path[:] = sys.argv[1:]
        from topiarist.text.parsers import protocol
        protocol.receive(sys.stdin.buffer, 0)
        protocol.send(sys.stdout.buffer, {"ready": 1})
        protocol.receive(sys.stdin.buffer, 0)
        sys.stdout.buffer.write(b"\\xff" * 100)
        sys.stdout.flush()
    """)
    monkeypatch.setattr(pool, "worker_command", lambda: [sys.executable, "-c", greet_then_lie, *filter(None, sys.path)])
    (scripts(tmp_path / "m", "x") / "a.txt").write_text("text")
    reading = read(tmp_path / "m")
    assert only(reading).text == "text"
    assert reasons(reading) == ["00.pdf: the parser stopped (exit code 0)"]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (
            [sys.executable, "-c", "raise SystemExit(7)"],
            "the worker process did not start: the parser stopped",
        ),
        (["./no-such-python"], "no worker process could be started"),
    ],
)
def test_worker_start_failure_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], reason: str
) -> None:
    monkeypatch.setattr(pool, "worker_command", lambda: command)
    (scripts(tmp_path / "m", "x", "y") / "a.txt").write_text("text")
    reading = read(tmp_path / "m")
    assert only(reading).text == "text"
    assert reading.counts.failed == 2
    assert all(reason in told for told in reasons(reading))


def test_deeply_nested_page_times_out(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<div>" * 400_000 + "deep")  # quadratic for the HTML parser
    (tmp_path / "b.html").write_text("<p>fine")
    reading = read(tmp_path, limits=Limits(seconds=1.5))
    assert only(reading).text == "fine"
    assert reasons(reading) == ["a.html: took longer than 1.5 s"]


def test_deeply_nested_mail(tmp_path: Path) -> None:
    nested = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2000))
    (tmp_path / "a.eml").write_text(nested)
    (tmp_path / "b.eml").write_text("Subject: x\n\nfine")
    reading = read(tmp_path)
    assert only(reading).text == "fine"
    assert reasons(reading) == ["a.eml: nested too deeply"]


def test_order_independent_of_worker_speed(tmp_path: Path) -> None:
    for number in range(12):
        pdf(tmp_path / f"{number:02d}.pdf", *(["long page"] * (40 if number % 3 == 0 else 1)))
        (tmp_path / f"{number:02d}.txt").write_text("text")
    names = [Path(document.source).name for document in read(tmp_path)]
    assert names == sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.eml"])
def test_long_document_cut(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Subject: x\n\n" + "word " * 100_000)
    reading = read(tmp_path / name, limits=Limits(characters=1000))
    assert len(only(reading).text) == 1000
    assert reasons(reading) == [f"{name}: only the first 1,000 characters are kept"]
    assert (reading.counts.read, reading.counts.partial, reading.counts.failed) == (1, 1, 0)


def test_file_of_hundred_megabytes(tmp_path: Path) -> None:
    with open(tmp_path / "a.txt", "wb") as stream:
        for _ in range(100):
            stream.write(b"word " * 200_000)
    tracemalloc.start()
    try:
        document = only(read(tmp_path / "a.txt", limits=Limits(characters=1_000_000)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(document.text) == 1_000_000
    assert peak < 30e6


class Endless:
    """A stream of JSON lines that is made up while it is read."""

    def __init__(self, lines: int) -> None:
        self.left = lines
        self.line = b'{"text": "' + b"word " * 400 + b'"}\n'

    def read(self, size: int) -> bytes:
        count = min(self.left, max(1, size // len(self.line)))
        self.left -= count
        return self.line * count


def test_stream_memory_constant() -> None:
    # 40 MB through standard input; the sample of the first rows is the most that is ever held.
    tracemalloc.start()
    try:
        number = sum(1 for _ in read("-", stdin=Endless(20_000)))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert number == 20_000
    assert peak < 12e6


def test_script_without_main_guard(tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", "page")
    script = tmp_path / "script.py"
    script.write_text(
        "print('main runs')\nfrom topiarist.text.readers import read\n"
        "print([document.text for document in read('a.pdf')])\n"
    )
    (tmp_path / "hostile").mkdir()
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "main runs\n['page']\n", done.stderr


def test_workers_ignore_modules_of_current_folder(tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", "page")
    (tmp_path / "json.py").write_text("open('was-run', 'w')")
    (tmp_path / "pypdfium2.py").write_text("open('was-run', 'w')")
    code = "from topiarist.text.readers import read; print([d.text for d in read('a.pdf')])"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "['page']\n", done.stderr
    assert not (tmp_path / "was-run").exists()


def test_workers_end_with_killed_reader(tmp_path: Path) -> None:
    for number in range(3):
        pdf(tmp_path / f"{number}.pdf", "page")
    code = textwrap.dedent("""
        import os, signal, subprocess
        from topiarist.text.parsers import pool, protocol, sandbox
        true = subprocess.Popen
        def popen(*args, **options):
            process = true(*args, **options)
            print(process.pid, flush=True)
            return process
        pool.subprocess.Popen = popen
        from topiarist.text.readers import read
        next(iter(read(".")))
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    processes = {int(line) for line in done.stdout.split()}
    assert processes
    assert gone(processes)


def test_importing_the_readers_cheap() -> None:
    heavy = ["numpy", "pyarrow", "pypdfium2", "selectolax", "charset_normalizer", "lxml"]
    code = f"import sys, topiarist.text.readers; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("name", ["characters", "seconds", "memory_bytes", "unpacked_bytes", "workers"])
def test_limits_require_positive(name: str) -> None:
    with pytest.raises(UsageError, match=rf"Limits\({name}=…\) must be positive, got 0"):
        Limits(**{name: 0})


@pytest.mark.skipif(not sandbox.can_drop_network_access(), reason="this system has no network to take away")
def test_parsers_without_network(acting: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a server of this machine: what a hostile file makes of a parser, it tells nobody."""
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = [place for place in known if not Path(place, "sitecustomize.py").exists()]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(kept))  # without what refuses connections in all other tests here
    with socket.create_server(("127.0.0.1", 0)) as listening:
        reading = read(scripts(tmp_path / "m", f"call {listening.getsockname()[1]}", "sleep"))
        assert len([one.text for one in reading]) == 1
        assert any(said in reasons(reading)[0] for said in ("unreachable", "permission denied"))  # by either wall
        monkeypatch.setattr(
            pool.Pool, "_describe_restrictions", lambda self: {}
        )  # without the sandbox of files, which has no TCP
        assert len([one.text for one in reading]) == 1
        assert "unreachable" in reasons(reading)[0]
