"""No reader needs the network, and none is there."""

import json
import os
import shutil
import socket
import subprocess
import sys

import pytest

from tests.text.readers import makers
from tests.text.readers.office_makers import epub, pptx, xlsx, zipped
from topiarist.text.parsers.pool import worker_command
from topiarist.text.readers import read

READ = """
import json, sys
from topiarist.text.readers import read
print(json.dumps([one.text for one in read(sys.argv[1])]))
"""
ASK = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "pile"
    place.mkdir()
    makers.pdf(place / "a.pdf", "pdf words")
    (place / "b.epub").write_bytes(epub("Novel", "book words"))
    (place / "c.pptx").write_bytes(pptx(("A", "slide words", "said")))
    (place / "d.xlsx").write_bytes(xlsx({"S": [["id", "text"], ["1", "sheet words of a table"]]}))
    (place / "e.zip").write_bytes(zipped({"in.txt": "zipped words"}))
    (place / "f.html").write_text(
        '<p>web words</p><img src="http://192.0.2.1/x.png"><script src="//192.0.2.1"></script>'
    )
    return place


def test_network_blocked_in_tests():
    with pytest.raises(AssertionError, match="network"):
        socket.create_connection(("192.0.2.1", 80))
    interpreter = worker_command()[0]
    done = subprocess.run([interpreter, "-P", "-c", ASK], capture_output=True, text=True, check=False)
    assert "the network is cut" in done.stderr


def test_readers_need_no_network(folder):
    found = [one.text for one in read(folder)]
    wanted = ("pdf words", "book words", "slide words", "sheet words", "zipped words", "web words")
    assert all(any(words in text for text in found) for words in wanted)


def test_readers_work_in_network_namespace(folder):
    alone = shutil.which("unshare")
    if alone is None or subprocess.run([alone, "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no right to cut the network off here")
    path = os.pathsep.join(filter(None, sys.path))
    command = [alone, "-rn", sys.executable, "-c", READ, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path})
    assert json.loads(done.stdout) == [one.text for one in read(folder)]
