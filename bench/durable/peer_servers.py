"""The servers that people use for delayed messages today, each started on loopback with a data directory of its own, and
ended with all its processes. They run with the settings that their packages come with, except for those shown here."""

import contextlib
import functools
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

from durable.subject import TICKS, free_port

READY_WITHIN_S = 60
STOP_WITHIN_S = 20
PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "build" / "peers" / "node"  # ./dev bench puts them there
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"  # Debian's own /usr/sbin/rabbitmq-server insists on a user


def process_tree(root):
    """The process and its living descendants."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            children.setdefault(int(path.read_text().rsplit(")", 1)[1].split()[1]), []).append(int(path.parent.name))
    found, left = [], [root]
    while left:
        found.append(left.pop())
        left += children.get(found[-1], [])
    return found


def cpu_seconds(root):
    """Processor time of the process and its descendants, including those that have ended."""
    ticks = 0
    for pid in process_tree(root):
        with contextlib.suppress(OSError):
            ticks += sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
    return ticks / TICKS


def memory_bytes(root):
    """Resident memory of the process and its descendants; what they share counts once."""
    total = 0
    for pid in process_tree(root):
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def postgres_program(name):
    """The path of one of PostgreSQL's programs, or None. Debian has most of them only in a folder of their version."""
    return shutil.which(name) or next(map(str, sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None)


@functools.cache
def bun():
    """The path of the Bun among the packages that this processor can run, or None."""
    for name in ("x64", "aarch64"):
        path = PACKAGES / "node_modules" / "@oven" / f"bun-linux-{name}" / "bin" / "bun"
        with contextlib.suppress(OSError):
            if subprocess.run([path, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return path
    return None


class PeerServer:
    """A subclass says how to start the server: `launch` returns its process, which serves `self.port`, and `is_ready` tells whether it does yet,
    if that is more than an open port."""

    stop_signal = signal.SIGTERM

    def __init__(self, directory):
        self.directory = directory
        self.port = 0
        self.process = None

    def start(self):
        self.directory.mkdir(parents=True)
        self.port = free_port()
        self.process = self.launch()
        deadline = time.monotonic() + READY_WITHIN_S
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{type(self).__name__} does not start:\n{self.log_path.read_text()[-2000:]}")
            time.sleep(0.05)

    def is_ready(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    @property
    def log_path(self):
        return self.directory / "server.log"

    def spawn(self, command, **how):
        with open(self.log_path, "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **how)

    def stop(self):
        if self.process is None:
            return
        tree = process_tree(self.process.pid)
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            for pid in tree:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
        self.process = None


class Redis(PeerServer):
    def __init__(self, directory, appendfsync):
        super().__init__(directory)
        self.appendfsync = appendfsync

    @staticmethod
    def why_unavailable():
        return None if shutil.which("redis-server") else "there is no redis-server"

    def launch(self):
        return self.spawn(["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.directory,
                           "--appendonly", "yes", "--appendfsync", self.appendfsync, "--save", ""])

    @property
    def address(self):
        return f"redis://127.0.0.1:{self.port}"


class Postgres(PeerServer):
    stop_signal = signal.SIGINT  # ends sessions at once, and orderly

    @staticmethod
    def why_unavailable():
        if not postgres_program("postgres"):
            return "there is no postgres"
        # It refuses to run as root.
        if os.geteuid() == 0 and "postgres" not in (user.pw_name for user in pwd.getpwall()):
            return "there is no user postgres to run it as"
        return None

    def launch(self):
        as_user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        if as_user:
            shutil.chown(self.directory, **as_user)
            self.directory.parent.chmod(0o711)
        data = self.directory / "data"
        subprocess.run([postgres_program("initdb"), "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8",
                        "--no-locale", "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd="/", **as_user)
        return self.spawn([postgres_program("postgres"), "-D", data, "-c", "listen_addresses=127.0.0.1", "-c",
                           f"port={self.port}", "-c", "unix_socket_directories="], cwd="/", **as_user)

    def is_ready(self):
        # It accepts connections before that, and refuses their sessions.
        return subprocess.run([postgres_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode == 0

    @property
    def address(self):
        return f"postgres://bench@127.0.0.1:{self.port}/postgres"


class RabbitMQ(PeerServer):
    def __init__(self, directory):
        super().__init__(directory)
        self.name_port = 0  # of Erlang's name server, one of its own

    @staticmethod
    def why_unavailable():
        return None if os.path.exists(RABBITMQ) else "there is no rabbitmq-server"

    def environment(self):
        return {**os.environ, "HOME": str(self.directory), "RABBITMQ_CONF_ENV_FILE": "/dev/null",
                "RABBITMQ_NODENAME": "bench@localhost", "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
                "RABBITMQ_NODE_PORT": str(self.port), "RABBITMQ_DIST_PORT": str(free_port()),
                "RABBITMQ_MNESIA_BASE": str(self.directory), "RABBITMQ_LOG_BASE": str(self.directory),
                "RABBITMQ_PID_FILE": str(self.directory / "pid"), "RABBITMQ_CONFIG_FILE": str(self.directory / "none"),
                "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.directory / "plugins"), "RABBITMQ_LOGS": "-",
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
                "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": str(self.name_port)}

    def launch(self):
        self.name_port = free_port()
        return self.spawn([RABBITMQ], env=self.environment())

    def stop(self):
        super().stop()
        # The name server goes on by itself.
        if shutil.which("epmd"):
            subprocess.run(["epmd", "-port", str(self.name_port), "-kill"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    @property
    def address(self):
        return f"amqp://127.0.0.1:{self.port}"


class Bunqueue(PeerServer):
    @staticmethod
    def why_unavailable():
        return None if bun() else "there is no Bun for this processor in build/peers/node"

    def launch(self):
        command = PACKAGES / "node_modules" / "bunqueue" / "dist" / "cli" / "index.js"
        return self.spawn([bun(), command, "start", "--host", "127.0.0.1", "--tcp-port", str(self.port), "--http-port", str(free_port()),
                           "--data-path", self.directory / "queue.db"])

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self.port}"
