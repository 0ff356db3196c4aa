"""A receiver of messages over HTTP that answers as it is told, badly too. For tests that import it."""

import contextlib
import socket
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def answer(status, body=b"", headers=""):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


class Receiver:
    """`behave(connection, request)` answers one request; requests are kept as (head, body)."""

    def __init__(self, behave):
        self.behave, self.requests, self.lock = behave, [], threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/secret-path/T0KEN"

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.socket.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            while (request := self.read(connection)) is not None:
                with self.lock:
                    self.requests.append(request)
                if self.behave(connection, request) == "close":
                    return

    @staticmethod
    def read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return None
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            part = connection.recv(65536)
            if not part:
                return None
            body += part
        return head.decode("latin-1"), body


def says(*answers):
    """One answer after the other, the last one for ever."""
    left = list(answers)

    def behave(connection, _):
        connection.sendall(left.pop(0) if len(left) > 1 else left[0])
    return behave


def slow(seconds):
    def behave(connection, _):
        time.sleep(seconds)
        connection.sendall(OK)
    return behave


def trickles(connection, _):
    """Never ends its answer."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for _ in range(600):
        connection.sendall(b"X-Wait: 1\r\n")
        time.sleep(0.1)


def closes(after):
    def behave(connection, _):
        connection.sendall(after)
        return "close"
    return behave


def echoes(status):
    """Says back all that it was sent, secrets too."""
    def behave(connection, request):
        connection.sendall(answer(status, request[0].encode("latin-1") + b"\r\n" + request[1]))
    return behave
