"""Pieces of work for a fan-out; they stand in a module of their own so that they can travel."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseRequestHandler, ThreadingTCPServer

PATIENCE_SECONDS = 60

Address = tuple[str, int]


def square(number: int) -> int:
    """The number times itself."""
    return number * number


def refuse_two(number: int) -> int:
    """The number, unless it is two."""
    if number == 2:
        raise LookupError("two is not to be had")
    return number


def die_of_two(number: int) -> int:
    """The number, unless it is two: then the process is gone, as if it had been killed."""
    if number == 2:
        os._exit(1)
    return number


def process_of(number: int) -> int:
    """The number of the process in which this is done."""
    return os.getpid()


def meet(place: Address) -> int:
    """Wait at a meeting point until the other one is there too; the number of the process."""
    with socket.create_connection(place, timeout=PATIENCE_SECONDS) as connection:
        if not connection.recv(1):
            raise TimeoutError("nobody else came: the two were not done at the same time")
    return os.getpid()


@contextmanager
def meeting_point() -> Iterator[Address]:
    """Where two pieces of work that are done at the same time find each other."""
    both = threading.Barrier(2)

    class Guest(BaseRequestHandler):
        def handle(self) -> None:
            try:
                both.wait(PATIENCE_SECONDS / 2)
            except threading.BrokenBarrierError:
                return
            self.request.sendall(b"!")

    with ThreadingTCPServer(("127.0.0.1", 0), Guest) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield ("127.0.0.1", server.server_address[1])
        server.shutdown()
        thread.join()
