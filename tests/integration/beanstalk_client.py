"""A daemon with clients of beanstalkd's protocol."""

import re
import socket

from daemon import Daemon

WITHIN_S = 60


class Connection:
    """Sends commands and reads one reply to each."""

    def __init__(self, address):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(WITHIN_S)
        self.socket.connect(address)
        self.file = self.socket.makefile("rb")

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode())

    def read(self):
        """A line, and the body behind it, if it has one."""
        line = self.file.readline()
        match = re.fullmatch(rb"(?:OK|FOUND \d+|RESERVED \d+) (\d+)\r\n", line)
        return line + (self.file.read(int(match.group(1)) + 2) if match else b"")

    def ask(self, text):
        self.send(text)
        return self.read()

    def put(self, body, priority=0, delay=0, ttr=60):
        reply = self.ask(b"put %d %d %d %d\r\n%s\r\n" % (priority, delay, ttr, len(body), body))
        assert reply.startswith(b"INSERTED "), reply
        return int(reply.split()[1])

    def close(self):
        self.file.close()
        self.socket.close()


class BeanstalkDaemon(Daemon):
    def __init__(self, address="127.0.0.1:0", arguments=(), **how):
        super().__init__(arguments=["--beanstalk", address, *arguments], **how)
        self.connections = []

    def connect(self):
        address = re.findall(r"beanstalk_ready.*address=(\S+)", self.log_text())[-1]
        if address.startswith("unix:"):
            self.connections.append(Connection(address.removeprefix("unix:")))
        else:
            self.connections.append(Connection(("127.0.0.1", int(address.rsplit(":", 1)[1]))))
        return self.connections[-1]

    def __exit__(self, *unused):
        for connection in self.connections:
            connection.close()
        super().__exit__(*unused)
