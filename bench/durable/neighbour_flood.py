"""A tenant that floods: it sends the same requests again and again over several connections, and reads no response for what it says.

    python3 neighbour_flood.py HOST PORT CONNECTIONS SECONDS < request

Requests are pipelined, so that one process can keep a server busy. Prints the number of responses.
"""

import selectors
import socket
import sys
import time

AT_ONCE = 256  # requests that a connection has outstanding, at most
PIECE = 1 << 20
BEGIN = b"HTTP/1.1 "


def main():
    host, port, connections, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    sent = sys.stdin.buffer.read()
    selector = selectors.DefaultSelector()
    rests = {}  # of each connection: the last bytes, in which a response may have begun
    for _ in range(connections):
        connection = socket.create_connection((host, port))
        connection.sendall(sent * AT_ONCE)
        selector.register(connection, selectors.EVENT_READ)
    responses = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in selector.select(end - time.monotonic()):
            got = rests.get(key.fd, b"") + key.fileobj.recv(PIECE)
            rests[key.fd] = got[1 - len(BEGIN):]
            count = got.count(BEGIN)
            responses += count
            key.fileobj.sendall(sent * count)
    print(responses)


if __name__ == "__main__":
    main()
