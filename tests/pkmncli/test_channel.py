"""Messages between a process and its child: whole, of any length, and given up where the other side stands still."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe

import pytest

from pkmncli import channel
from pkmncli.channel import Channel, Ends, GeneralChannel

LENGTHS = [0, 1, 65_531, 65_532, 65_536, 65_537, 3_000_000]


class GaveUpError(Exception):
    """It was looked at long enough."""


@pytest.fixture(params=["connection", "pipes"])
def ends(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Ends, Ends]]:
    monkeypatch.setattr(channel, "LOOK_SECONDS", 0.01)
    one, other = (Ends(end, end, end) for end in Pipe()) if request.param == "connection" else Ends.pair()
    yield one, other
    one.close()
    other.close()


def gives_up() -> None:
    raise GaveUpError


BOTH = pytest.mark.parametrize("kind", [Channel, GeneralChannel])
"""The channel of this system, and the one of all others, such as Windows."""


@BOTH
@pytest.mark.parametrize("length", LENGTHS)
def test_messages_arrive_whole_in_both_directions(
    length: int, kind: type[GeneralChannel], ends: tuple[Ends, Ends]
) -> None:
    looks: list[None] = []
    parent, child = kind(ends[0], lambda: looks.append(None)), kind(ends[1])
    message = os.urandom(length)
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(parent.send, message)
        assert child.receive() == message
        sent.result()
        sent = thread.submit(child.send, message)
        assert parent.receive() == message
        sent.result()


@BOTH
@pytest.mark.parametrize("length", LENGTHS)
def test_the_format_is_that_of_connections(length: int, kind: type[GeneralChannel], ends: tuple[Ends, Ends]) -> None:
    message = os.urandom(length)
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(kind(ends[0], lambda: None).send, message)
        assert ends[1].reader.recv_bytes() == message
        sent.result()


def test_a_length_beyond_two_gigabytes_is_understood(ends: tuple[Ends, Ends]) -> None:
    os.write(ends[1].writer.fileno(), struct.pack("!i", -1) + struct.pack("!Q", 5) + b"hello")
    assert Channel(ends[0]).receive() == b"hello"


def test_who_takes_no_message_is_given_up(ends: tuple[Ends, Ends]) -> None:
    with pytest.raises(GaveUpError):
        Channel(ends[0], gives_up).send(bytes(50_000_000))


def test_who_stops_in_the_midst_of_a_message_is_given_up(ends: tuple[Ends, Ends]) -> None:
    os.write(ends[1].writer.fileno(), struct.pack("!i", 10) + b"half")
    with pytest.raises(GaveUpError):
        Channel(ends[0], gives_up).receive()


@BOTH
def test_who_is_gone_is_told_at_once(kind: type[GeneralChannel], ends: tuple[Ends, Ends]) -> None:
    parent = kind(ends[0], lambda: None)
    ends[1].close()
    with pytest.raises(EOFError):
        parent.receive()
    with pytest.raises(OSError, match="Broken pipe"):
        parent.send(b"x")


def test_the_general_channel_looks_while_it_waits(ends: tuple[Ends, Ends]) -> None:
    with pytest.raises(GaveUpError):
        GeneralChannel(ends[0], gives_up).receive()
    assert not GeneralChannel(ends[0]).wait(0)
    GeneralChannel(ends[1]).send(b"x")
    assert GeneralChannel(ends[0]).wait(10)
