"""A proxy before a Kafka broker that can hold an EndTxn request back, and forward it after the client has given it up.

That is how a slow network looks to a producer: the request times out, the client sends it again on a new connection, and
the first one arrives later (KAFKA-17754). The proxy knows frames (a length of 4 bytes, then the number of the request), so
it delays exactly this request. A connection that the client closes stays open towards the broker while a request is held.
"""

import contextlib
import socket
import struct
import threading

END_TXN = 26


class EndTxnProxy:
    def __init__(self, listen_port, broker_port):
        self.broker_port = broker_port
        self.listener = socket.create_server(("127.0.0.1", listen_port))
        self.lock = threading.Condition()
        self.wants_hold = False  # the next EndTxn; guarded by lock, as is what follows
        self.is_holding = False
        self.forwarded = 0  # requests that were held and then answered
        self.late = None  # the connection to the broker whose next response is that of a held request
        threading.Thread(target=self._accept, daemon=True).start()

    def hold_next(self):
        with self.lock:
            self.wants_hold = True

    def release(self):
        """Forwards the request that is held, and waits for the broker's response."""
        with self.lock:
            wanted = self.forwarded + 1
            self.is_holding = False
            self.lock.notify_all()
            if not self.lock.wait_for(lambda: self.forwarded == wanted, 20):
                raise AssertionError("no EndTxn was held, or the broker does not answer it")

    def _accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            broker = socket.create_connection(("127.0.0.1", self.broker_port))
            with broker:
                threading.Thread(target=self._return, args=(broker, client), daemon=True).start()
                while frame := read_frame(client):
                    if self._holds(frame):
                        self._forward_late(broker, frame)
                        return
                    broker.sendall(frame)

    def _holds(self, frame):
        with self.lock:
            if not self.wants_hold or struct.unpack(">h", frame[4:6])[0] != END_TXN:
                return False
            self.wants_hold, self.is_holding = False, True
            self.lock.notify_all()
            return True

    def _forward_late(self, broker, frame):
        with self.lock:
            self.lock.wait_for(lambda: not self.is_holding)
            self.late = broker
        broker.sendall(frame)
        with self.lock:
            self.lock.wait_for(lambda: self.late is None, 20)

    def _return(self, broker, client):
        with contextlib.suppress(OSError):
            while frame := read_frame(broker):
                with self.lock:
                    is_late = self.late is broker
                    if is_late:
                        self.late = None
                        self.forwarded += 1
                        self.lock.notify_all()
                if not is_late:
                    client.sendall(frame)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def read_frame(connection):
    """A whole frame with its length, or nothing at the end of the connection."""
    head = read_exactly(connection, 4)
    return head + read_exactly(connection, struct.unpack(">i", head)[0]) if head else b""


def read_exactly(connection, size):
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            return b""
        parts += part
    return bytes(parts)
