"""The group of rows about access tokens: what checking one costs, and what many of them cost. Takes the rows, a directory on
the disk that is measured, and whether it is only to see that it works."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import threading

from durable.subject import BIN, Server, load

TOKENS_ON = "tokens on"
TOKENS_OFF = "tokens off"


def call(server, method, path, token, body=None, connection=None):
    connection = connection or http.client.HTTPConnection(server.address.removeprefix("http://"))
    connection.request(method, path, json.dumps(body) if body is not None else None,
                       {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    return json.loads(answer.read())


def start(directory, *arguments):
    """A server and the token of its administrator."""
    directory.mkdir(parents=True)
    made = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", directory, "--admin"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server = Server("duewheel", directory, arguments)
    server.start()
    return server, made.stdout.strip()


def put(server, token, seconds, seed):
    """Puts with the token, or without one."""
    if token:
        os.environ["DUEWHEEL_TOKEN"] = token
    try:
        return load("put", server, connections=64, seconds=seconds, seed=seed)
    finally:
        os.environ.pop("DUEWHEEL_TOKEN", None)


def puts(rows, scratch, quick):
    """64 connections, one outstanding each, in turns: with a token that is required, and on a server that requires none."""
    seconds, rounds = (2, 1) if quick else (10, 5)
    rates = {TOKENS_ON: [], TOKENS_OFF: []}
    cpu = {TOKENS_ON: [], TOKENS_OFF: []}
    for number in range(rounds):
        for subject in sorted(rates, reverse=number % 2 == 1):
            is_on = subject == TOKENS_ON
            server, admin = start(scratch / "tokens", *(["--auth-required"] if is_on else []))
            token = call(server, "PUT", "/v1/tokens/load", admin, {"scopes": ["put"], "queues": "load"})["token"] if is_on else None
            put(server, token, 1, 1)
            before = server.cpu_seconds()
            result = put(server, token, seconds, number + 2)
            cpu[subject].append((server.cpu_seconds() - before) / result["accepted"] * 1e6)
            rates[subject].append(result["per_second"])
            server.stop()
            shutil.rmtree(scratch / "tokens")
    for subject in rates:
        rows.add("puts with access tokens", 64, subject, "1/s", rates[subject])
        rows.add("puts with access tokens, server CPU a put", 64, subject, "us", cpu[subject])
    rows.add("puts with access tokens, ratio", 64, TOKENS_ON, "x",
             [on / off for on, off in zip(rates[TOKENS_ON], rates[TOKENS_OFF])])


def set_many(server, admin, count, threads=32):
    def work(first):
        connection = http.client.HTTPConnection(server.address.removeprefix("http://"))
        for number in range(first, count, threads):
            call(server, "PUT", f"/v1/tokens/t{number}", admin, {"scopes": ["put", "read"], "namespaces": ["default"], "queues": "orders-"},
                 connection)

    workers = [threading.Thread(target=work, args=(first,)) for first in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def many(rows, scratch, quick):
    """Start and memory with many tokens, beside the same server with one."""
    count = 1_000 if quick else 99_999
    starts = {1: [], count: []}
    cpu = {1: [], count: []}
    resident = {1: [], count: []}
    server, admin = start(scratch / "tokens")
    for tokens in (1, count):
        if tokens > 1:
            set_many(server, admin, tokens - 1)
        for _ in range(3):
            server.stop(signal.SIGTERM)
            starts[tokens].append(server.start())
            cpu[tokens].append(server.cpu_seconds())
            resident[tokens].append(server.resident_megabytes())
    server.stop()
    shutil.rmtree(scratch / "tokens")
    for tokens in starts:
        rows.add("start with access tokens", tokens, "duewheel", "s", starts[tokens])
        rows.add("start with access tokens, server CPU", tokens, "duewheel", "s", cpu[tokens])
        rows.add("resident set with access tokens", tokens, "duewheel", "MB", resident[tokens])


def tokens(rows, scratch, quick):
    puts(rows, scratch, quick)
    many(rows, scratch, quick)
