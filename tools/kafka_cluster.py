#!/usr/bin/env python3
"""Starts Apache Kafka on this machine: one or three brokers in KRaft mode on loopback, for tests and to try things out.

    tools/kafka_cluster.py start [--brokers 3] [--port 9092]    prints the bootstrap address when all brokers are ready
    tools/kafka_cluster.py status
    tools/kafka_cluster.py kill 2        kill -9 of broker 2; `start` starts it again
    tools/kafka_cluster.py pause 2       SIGSTOP; `resume 2` continues it
    tools/kafka_cluster.py run kafka-console-producer --topic payments.later
                                         one of Kafka's own tools, with the bootstrap address filled in
    tools/kafka_cluster.py stop          stops all brokers; data stays until `remove`
    tools/kafka_cluster.py remove        stops them and removes their data
    tools/kafka_cluster.py fetch         only downloads Kafka

It needs java (17 or later), and for the download maven. Kafka is not installed: the archives that tools/kafka/pom.xml names
are kept in build/kafka, and are used only if their bytes are those of tools/kafka/jars.sha256. Everything else lies in one
directory (--directory, build/kafka/cluster by default). It signals only processes that it started there.

Tests import it: `with KafkaCluster(directory, brokers=3) as cluster:`, whose brokers end with the thread that started them.

The brokers have small heaps, keep no promise about speed, and accept connections from this machine only.
"""
import argparse
import base64
import contextlib
import ctypes
import hashlib
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
PINS = TREE / "tools" / "kafka"
CACHE = TREE / "build" / "kafka"
JARS = CACHE / "jars"
COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies"
JAVA = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
        "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info"]
READY_LINE = b"Kafka Server started"
READY_WITHIN_S = 90
STOP_WITHIN_S = 30
PORT_FREE_WITHIN_S = 5  # threads of a process that was killed may hold it for a moment
TOOLS = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-configs": "org.apache.kafka.tools.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
}
PR_SET_PDEATHSIG = 1


class ClusterError(Exception):
    """What is wrong and what to do, for the user."""


def why_unavailable():
    """Why no broker can be started here, or None."""
    if not shutil.which("java"):
        return "there is no java; install Java 17 or later (Debian: default-jre-headless)"
    if not is_fetched():
        return "Kafka is not downloaded; run tools/kafka_cluster.py fetch"
    return None


def pinned_jars():
    return dict(reversed(line.split()) for line in (PINS / "jars.sha256").read_text().splitlines())


def is_fetched():
    """The copy of the pins is written last, when the bytes of every archive were compared with them."""
    with contextlib.suppress(FileNotFoundError):
        return (CACHE / "jars.sha256").read_bytes() == (PINS / "jars.sha256").read_bytes()
    return False


def fetch():
    """Downloads the archives into build/kafka unless they are there."""
    if is_fetched():
        return
    if not shutil.which("mvn"):
        raise ClusterError("there is no mvn to download Kafka with; install Maven (Debian: maven)")
    shutil.rmtree(JARS, ignore_errors=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mvn", "-B", "-q", "-f", PINS / "pom.xml", f"-Dmaven.repo.local={CACHE / 'maven'}", COPY_JARS,
         "-DincludeScope=runtime", f"-DoutputDirectory={JARS}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    shutil.rmtree(CACHE / "maven", ignore_errors=True)
    if done.returncode:
        raise ClusterError(f"Kafka cannot be downloaded:\n{done.stdout}")
    found = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in JARS.iterdir()}
    if found != pinned_jars():
        wrong = sorted(name for name, _ in found.items() ^ pinned_jars().items())
        raise ClusterError(f"downloaded archives differ from {PINS / 'jars.sha256'}: {', '.join(dict.fromkeys(wrong))}")
    shutil.copy(PINS / "jars.sha256", CACHE / "jars.sha256")


def random_uuid():
    return base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")


def start_time(pid):
    """When the process started, in ticks since the boot, or None: with it a pid names one process for ever."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[19]) if fields[0] != "Z" else None
    return None


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False


def free_ports(count):
    """Below the ports that connections get: one that a client tries again and again while its broker is away would at last
    be the client's own, and the broker could not have it back."""
    candidates = random.sample(range(10_000, 32_000), 100 * count)
    return list(itertools.islice(filter(is_free, candidates), count))


class KafkaCluster:
    """The brokers of one directory, numbered from 1. As a context it starts them, and at the end removes the directory."""

    def __init__(self, directory, brokers=1, port=0, settings=None, sasl_users=None):
        """A new cluster: `port` is that of the first broker, or 0 for free ones; `settings` are added to those of each
        broker; `sasl_users` (names to passwords) adds a listener with SASL/PLAIN, whose users have no rights until
        kafka-acls gives them some."""
        self.directory = pathlib.Path(directory).resolve()
        self.state_file = self.directory / "cluster.json"
        self.ends_with_parent = False
        if self.state_file.exists():
            self.state = json.loads(self.state_file.read_text())
            return
        kinds = 3 if sasl_users else 2  # of ports: clients, the controller, clients with SASL
        ports = free_ports(kinds * brokers)
        clients = [port + number for number in range(brokers)] if port else ports[:brokers]
        self.state = {
            "settings": settings or {},
            "sasl_users": sasl_users or {},
            "brokers": [{"port": clients[number], "controller_port": ports[brokers + number],
                         "sasl_port": ports[2 * brokers + number] if sasl_users else 0, "pid": 0, "started": 0}
                        for number in range(brokers)],
        }

    def __enter__(self):
        self.ends_with_parent = True
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *unused):
        self.remove()

    @property
    def numbers(self):
        return range(1, len(self.state["brokers"]) + 1)

    @property
    def bootstrap(self):
        return ",".join(f"127.0.0.1:{broker['port']}" for broker in self.state["brokers"])

    @property
    def sasl_bootstrap(self):
        return ",".join(f"127.0.0.1:{broker['sasl_port']}" for broker in self.state["brokers"])

    def start(self, number=None):
        """Starts the brokers that do not run, or this one, and waits until each serves."""
        if why_unavailable():
            raise ClusterError(why_unavailable())
        self._format()
        numbers = [number] if number else self.numbers
        waiting = {each: self._start(each) for each in numbers if not self.is_running(each)}
        deadline = time.monotonic() + READY_WITHIN_S
        while waiting:
            for number, offset in list(waiting.items()):
                with open(self.log_path(number), "rb") as log:
                    log.seek(offset)
                    text = log.read()
                if READY_LINE in text:
                    del waiting[number]
                elif not self.is_running(number) or time.monotonic() > deadline:
                    raise ClusterError(f"broker {number} does not start; the end of {self.log_path(number)}:\n" +
                                       "\n".join(text.decode(errors="replace").splitlines()[-15:]))
            time.sleep(0.05)

    def stop(self, number=None):
        """Stops one broker in an orderly way, or all at once."""
        numbers = [number] if number else self.numbers
        for each in numbers:
            self._signal(each, signal.SIGCONT)
            self._signal(each, signal.SIGTERM)
        deadline = time.monotonic() + STOP_WITHIN_S
        for each in numbers:
            while self.is_running(each) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.kill(each)

    def kill(self, number):
        self._signal(number, signal.SIGKILL)
        while self.is_running(number):
            time.sleep(0.01)

    def pause(self, number):
        self._signal(number, signal.SIGSTOP)

    def resume(self, number):
        self._signal(number, signal.SIGCONT)

    def remove(self):
        for number in self.numbers:
            self.kill(number)
        shutil.rmtree(self.directory, ignore_errors=True)

    def is_running(self, number):
        broker = self.state["brokers"][number - 1]
        with contextlib.suppress(ChildProcessError):
            if broker["pid"]:
                os.waitpid(broker["pid"], os.WNOHANG)  # otherwise one that this process started stays as a zombie
        return bool(broker["pid"]) and start_time(broker["pid"]) == broker["started"]

    def run(self, tool, *arguments, **how):
        """Runs one of Kafka's own tools; `how` as in subprocess.run."""
        return subprocess.run([*self.tool_command(tool), *arguments], **how)

    def tool_command(self, tool):
        if tool not in TOOLS:
            raise ClusterError(f"there is no tool {tool}; there are: {', '.join(TOOLS)}")
        return [*JAVA, "-cp", f"{JARS}/*", TOOLS[tool], "--bootstrap-server", self.bootstrap]

    def log_path(self, number):
        return self.directory / f"broker-{number}.log"

    def _signal(self, number, which):
        if self.is_running(number):
            os.kill(self.state["brokers"][number - 1]["pid"], which)

    def _save(self):
        partial = self.state_file.with_suffix(".new")
        partial.write_text(json.dumps(self.state, indent=1))
        partial.replace(self.state_file)

    def _format(self):
        """Makes the directory of a new cluster. One run of Kafka's tool is enough: the other brokers differ by two lines."""
        if self.state_file.exists():
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        for number in self.numbers:
            self._properties_path(number).write_text(self._properties(number))
        done = subprocess.run([*JAVA, "-cp", f"{JARS}/*", "kafka.tools.StorageTool", "format",
                               f"--cluster-id={random_uuid()}", "-c", self._properties_path(1)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise ClusterError(f"Kafka cannot format {self.directory}:\n{done.stdout}")
        for number in self.numbers[1:]:
            shutil.copytree(self._data_path(1), self._data_path(number))
            meta = self._data_path(number) / "meta.properties"
            lines = dict(line.split("=", 1) for line in meta.read_text().splitlines() if "=" in line)
            lines.update({"node.id": str(number), "directory.id": random_uuid()})
            meta.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        self._save()

    def _start(self, number):
        """Starts a broker; from where its log is that of this start."""
        broker = self.state["brokers"][number - 1]
        deadline = time.monotonic() + PORT_FREE_WITHIN_S
        while not is_free(broker["port"]) and time.monotonic() < deadline:
            time.sleep(0.05)
        if not is_free(broker["port"]):
            raise ClusterError(f"port {broker['port']} is in use; choose another one with --port")
        libc = ctypes.CDLL(None)
        with open(self.log_path(number), "ab") as log:
            offset = log.tell()
            process = subprocess.Popen(
                [*JAVA, "-cp", f"{JARS}/*", "kafka.Kafka", self._properties_path(number)], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, cwd=self.directory, start_new_session=True,
                preexec_fn=(lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)) if self.ends_with_parent else None)
        broker.update(pid=process.pid, started=start_time(process.pid))
        process.returncode = 0  # it is watched by its pid, also by later runs of this program
        self._save()
        return offset

    def _properties_path(self, number):
        return self.directory / f"broker-{number}.properties"

    def _data_path(self, number):
        return self.directory / f"broker-{number}"

    def _properties(self, number):
        brokers = self.state["brokers"]
        mine = brokers[number - 1]
        replicas = min(3, len(brokers))
        voters = ",".join(f"{each}@127.0.0.1:{broker['controller_port']}" for each, broker in enumerate(brokers, 1))
        properties = {
            "process.roles": "broker,controller",
            "node.id": number,
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "CLIENTS",
            "listeners": f"CLIENTS://127.0.0.1:{mine['port']},CONTROLLER://127.0.0.1:{mine['controller_port']}",
            "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self._data_path(number),
            "auto.create.topics.enable": "false",
            "default.replication.factor": replicas,
            "min.insync.replicas": max(1, replicas - 1),
            "offsets.topic.num.partitions": 4,
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.num.partitions": 4,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": max(1, replicas - 1),
            "group.initial.rebalance.delay.ms": 0,
            "log.cleaner.dedupe.buffer.size": 16 << 20,
        }
        if self.state["sasl_users"]:
            users = " ".join(f'user_{name}="{password}"' for name, password in self.state["sasl_users"].items())
            properties["listeners"] += f",SASL://127.0.0.1:{mine['sasl_port']}"
            properties["listener.security.protocol.map"] += ",SASL:SASL_PLAINTEXT"
            properties.update({
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.sasl.plain.sasl.jaas.config":
                    f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
            })
        properties.update(self.state["settings"])
        return "".join(f"{name}={value}\n" for name, value in properties.items())


def parse_arguments():
    parser = argparse.ArgumentParser(description="Starts Apache Kafka on this machine: one or three brokers on loopback.")
    parser.add_argument("--directory", default=CACHE / "cluster", help="of the cluster's data (default: build/kafka/cluster)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    start = commands.add_parser("start", help="start the brokers that do not run, and print the bootstrap address")
    start.add_argument("--brokers", type=int, default=1, choices=[1, 3], help="of a new cluster (default: 1)")
    start.add_argument("--port", type=int, default=9092, help="of the first broker of a new cluster (default: 9092)")
    for name, text in [("stop", "stop all brokers, or one"), ("kill", "kill -9 of one broker"),
                       ("pause", "SIGSTOP for one broker"), ("resume", "SIGCONT for one broker")]:
        command = commands.add_parser(name, help=text)
        command.add_argument("broker", type=int, nargs="?" if name == "stop" else None, metavar="BROKER")
    commands.add_parser("status", help="list the brokers, and whether they run")
    commands.add_parser("remove", help="stop all brokers and remove their data")
    commands.add_parser("fetch", help="only download Kafka")
    run = commands.add_parser("run", help="run one of Kafka's tools: " + ", ".join(TOOLS))
    run.add_argument("tool")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args()


def obey(options):
    if options.command in ("start", "fetch"):
        fetch()
    if options.command == "fetch":
        return 0
    cluster = KafkaCluster(options.directory, getattr(options, "brokers", 1), getattr(options, "port", 0))
    if options.command == "start":
        cluster.start()
        print(cluster.bootstrap)
        return 0
    if not cluster.state_file.exists():
        raise ClusterError(f"there is no cluster in {cluster.directory}; make one with the command start")
    broker = getattr(options, "broker", None)
    if broker is not None and broker not in cluster.numbers:
        raise ClusterError(f"there is no broker {broker}; there are: {', '.join(map(str, cluster.numbers))}")
    if options.command == "run":
        return cluster.run(options.tool, *options.arguments).returncode
    if options.command == "status":
        for number in cluster.numbers:
            port = cluster.state["brokers"][number - 1]["port"]
            print(f"broker {number}  127.0.0.1:{port}  {'runs' if cluster.is_running(number) else 'does not run'}")
    elif broker is None:
        getattr(cluster, options.command)()
    else:
        getattr(cluster, options.command)(broker)
    return 0


def main():
    try:
        return obey(parse_arguments())
    except ClusterError as error:
        print(f"kafka_cluster: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
