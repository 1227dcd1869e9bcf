"""Readers never ask the network: in their tests there is none, neither here nor in the processes that parse."""

import os
import socket

import pytest

CUT = """
import socket

def refuse(*given, **named):
    raise OSError("the network is cut")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
"""


def refuse(*given, **named):
    raise AssertionError("a reader asked the network")


@pytest.fixture(autouse=True, scope="module")
def no_network(tmp_path_factory):
    """No connection can be made; workers learn it from a module that every interpreter loads when it starts."""
    place = tmp_path_factory.mktemp("cut")
    (place / "sitecustomize.py").write_text(CUT)
    with pytest.MonkeyPatch.context() as patch:
        known = [str(place), *filter(None, [os.environ.get("PYTHONPATH", "")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(known))
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        patch.setattr(socket, "create_connection", refuse)
        yield
