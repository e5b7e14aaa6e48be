"""The groups of rows about TLS: what it costs a kept connection, and what a handshake costs beside nginx. Each takes the
rows, a directory on the disk that is measured, and whether it is only to see that it works.

The load of `tls` is the program wrk, which speaks both, so that neither side has another client.
"""

import multiprocessing
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import time

from durable.subject import TICKS, Server

PUT = """wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"delay": "1h", "body": "%s"}'
"""


def certificate(directory):
    """(certificate, key) of P-256, self-signed."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = directory / "cert.pem", directory / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "30",
                    "-subj", "/CN=localhost", "-keyout", paths[1], "-out", paths[0]], check=True, stderr=subprocess.DEVNULL)
    return paths


def wrk(address, script, seconds):
    """Requests per second; all of them must have succeeded."""
    output = subprocess.run(["wrk", "-t1", "-c64", f"-d{seconds}s", "-s", script, address + "/v1/queues/bench/messages"],
                            check=True, capture_output=True, text=True).stdout
    assert "Non-2xx" not in output and "Socket errors" not in output, output
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])


def await_rest(server):
    """A start fills files with zeros for a while."""
    before = -1.0
    while (now := server.cpu_seconds()) > before + 0.01:
        before = now
        time.sleep(0.5)


def tls(rows, scratch, quick):
    """Durable puts over 64 kept connections, with TLS 1.3 and without, in turns."""
    if not shutil.which("wrk"):
        raise SystemExit("the group tls needs wrk; tools/packages.txt names it")
    seconds, rounds = (2, 1) if quick else (10, 7)
    own = certificate(scratch / "tls")
    script = scratch / "tls" / "put.lua"
    script.write_text(PUT % os.urandom(100).hex())
    arguments = {"plain": (), "TLS": ("--tls-certificate", own[0], "--tls-key", own[1])}
    rates, cpu = {name: [] for name in arguments}, {name: [] for name in arguments}
    for round_number in range(rounds):
        for name in sorted(arguments, reverse=round_number % 2 == 0):
            server = Server("duewheel", scratch / "puts", arguments[name])
            server.start()
            address = server.address if name == "plain" else server.address.replace("http", "https")
            await_rest(server)
            wrk(address, script, 1)
            before = server.cpu_seconds()
            rates[name].append(wrk(address, script, seconds))
            cpu[name].append((server.cpu_seconds() - before) / (rates[name][-1] * seconds) * 1e6)
            server.stop()
            shutil.rmtree(scratch / "puts")
    for name in arguments:
        rows.add("durable puts, 64 kept connections", 64, name, "1/s", rates[name])
        rows.add("the same, server CPU a put", 64, name, "us", cpu[name])
    rows.add("the same, ratio", 64, "TLS to plain", "x", [tls / plain for tls, plain in zip(rates["TLS"], rates["plain"])])


NGINX = """daemon off; worker_processes 1; pid {here}/nginx.pid; error_log {here}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {here}/b; proxy_temp_path {here}/p; fastcgi_temp_path {here}/f;
  uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;
  server {{
    listen 127.0.0.1:{port} ssl; server_name localhost;
    ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;
    location / {{ return 200 "ok\\n"; }}
  }}
}}
"""


class Nginx:
    """One worker on a directory of its own; its CPU time is that of the worker."""

    def __init__(self, directory, own):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (directory / "nginx.conf").write_text(
            NGINX.format(here=directory, port=self.port, certificate=own[0], key=own[1]))

    def start(self):
        self.process = subprocess.Popen(["nginx", "-p", self.directory, "-c", self.directory / "nginx.conf"],
                                        stderr=subprocess.DEVNULL)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        while not children.read_text().split():
            time.sleep(0.05)
        self.worker = int(children.read_text().split()[0])

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.worker}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def stop(self):
        self.process.terminate()
        self.process.wait()


def connect_again_and_again(port, resumed, seconds, done):
    """Connections of one request each; with `resumed`, all but the first with the ticket of the one before."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    session, count, until = None, 0, time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.create_connection(("127.0.0.1", port)) as raw, context.wrap_socket(raw, session=session) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            while connection.recv(4096):
                pass
            assert connection.session_reused == (session is not None)
            if resumed:
                session = connection.session
        count += 1
    done.put(count)


def by_two_clients(port, resumed, seconds):
    done = multiprocessing.Queue()
    clients = [multiprocessing.Process(target=connect_again_and_again, args=(port, resumed, seconds, done)) for _ in range(2)]
    for client in clients:
        client.start()
    count = sum(done.get() for _ in clients)
    for client in clients:
        client.join()
    return count


def handshakes(rows, scratch, quick):
    """TLS 1.3 connections with one small request each, full handshakes and resumed ones, beside nginx in turns: how many a
    second of the server's CPU time. P-256 certificate, two clients."""
    if not shutil.which("nginx"):
        raise SystemExit("the group handshakes needs nginx; tools/packages.txt names it")
    seconds, rounds = (1, 1) if quick else (5, 5)
    own = certificate(scratch / "tls")
    found = {}
    for round_number in range(rounds):
        for subject in sorted(("duewheel", "nginx"), reverse=round_number % 2 == 0):
            if subject == "nginx":
                server = Nginx(scratch / "nginx", own)
                server.start()
                port = server.port
            else:
                server = Server("duewheel", scratch / "handshakes", ("--tls-certificate", own[0], "--tls-key", own[1]))
                server.start()
                port = int(server.address.rsplit(":", 1)[1])
            by_two_clients(port, False, 1)
            await_rest(server)
            for kind in ("full", "resumed"):
                before = server.cpu_seconds()
                count = by_two_clients(port, kind == "resumed", seconds)
                found.setdefault((kind, subject), []).append(count / (server.cpu_seconds() - before))
            server.stop()
            shutil.rmtree(server.directory)
    for (kind, subject), values in found.items():
        rows.add(f"TLS connections a second of server CPU, {kind}", 2, subject, "1/s", values)
    for kind in ("full", "resumed"):
        rows.add(f"the same, {kind}: ratio to nginx", 2, "duewheel", "x",
                 [ours / theirs for ours, theirs in zip(found[kind, "duewheel"], found[kind, "nginx"])])
