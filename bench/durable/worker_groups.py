"""Workers of Duewheel's clients beside the usual library of each language on Redis, which syncs each write, in turns. One process puts
COUNT messages of 200 bytes and handles them (for Celery a second one puts), and a ledger sees that each is handled once. The rate is from
the first put until all are acknowledged. Each program is built with its language's own tools, or skipped by name without them."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass

from durable.peer_servers import Redis
from durable.subject import BIN, Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "bench" / "durable" / "workers"
OUT = ROOT / "build" / "peers"
ROUNDS = 3
CONCURRENCY = 100
BUILD_WITHIN_S, RUN_WITHIN_S = 900, 180


@dataclass(frozen=True)
class Subject:
    name: str
    command: list
    count: int
    environment: dict
    redis: bool = False


def run(*words, cwd=HERE, **environment):
    done = subprocess.run([*map(str, words)], cwd=cwd, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=BUILD_WITHIN_S)
    if done.returncode:
        raise OSError(f"{words[0]}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout


def python(count):
    place, pins = OUT / "python", HERE / "requirements.txt"
    if not (place / "pins").exists() or (place / "pins").read_text() != pins.read_text():
        shutil.rmtree(place, ignore_errors=True)
        run(sys.executable, "-m", "venv", place)
        run(place / "bin" / "pip", "install", "-q", "-r", pins)
        (place / "pins").write_text(pins.read_text())
    path = {"PYTHONPATH": str(ROOT / "clients" / "python" / "src")}
    return [Subject("Duewheel, Python", [place / "bin" / "python", HERE / "duewheel_python.py"], count, path),
            Subject("Celery", [place / "bin" / "python", HERE / "celery_redis.py"], count // 10, {}, redis=True)]


def node(count):
    package = run("node", ROOT / "clients" / "typescript" / "build.mjs").strip()
    return [Subject("Duewheel, Node", ["node", HERE / "duewheel_node.mjs", f"{package}/index.js"], count, {}),
            Subject("BullMQ", ["node", HERE / "bullmq.mjs"], count // 4, {}, redis=True)]


def go(count):
    program = OUT / "go_workers"
    run("go", "build", "-o", program, ".", cwd=HERE / "go")
    return [Subject("Duewheel, Go", [program, "duewheel"], count, {}), Subject("asynq", [program, "asynq"], count // 4, {}, redis=True)]


def java(count):
    repository = f"-Dmaven.repo.local={ROOT / 'build' / 'java' / 'repository'}"
    run("mvn", "-q", "-B", repository, "-DskipTests", "-pl", "duewheel-client", "-am", "install", cwd=ROOT / "clients" / "java")
    run("mvn", "-q", "-B", repository, "package", cwd=HERE / "java")
    place = OUT / "workers-java"
    command = ["java", "-cp", f"{place}/classes:{place}/lib/*", "duewheel.bench.Workers"]
    return [Subject("Duewheel, Java", [*command, "duewheel"], count, {}), Subject("Redisson", [*command, "redisson"], count // 2, {}, redis=True)]


def cpp(count):
    return [Subject("Duewheel, C++", [BIN / "duewheel_workers_bench"], count, {})]


LANGUAGES = {"Python": (python, 20_000, ()), "Node": (node, 60_000, ("node", "npm")), "Go": (go, 100_000, ("go",)),
             "Java": (java, 100_000, ("java", "javac", "mvn")), "C++": (cpp, 200_000, ())}


def subjects(quick):
    for language, (build, count, tools) in LANGUAGES.items():
        missing = [tool for tool in tools if shutil.which(tool) is None]
        if missing:
            print(f"skipped: workers in {language} (there is no {', '.join(missing)})", file=sys.stderr)
            continue
        try:
            yield from build(count // 20 if quick else count)
        except (subprocess.SubprocessError, OSError) as problem:
            print(f"skipped: workers in {language} ({problem})", file=sys.stderr)


def measure(subject, directory):
    """Jobs per second."""
    server = Redis(directory, "always") if subject.redis else Server("duewheel", directory)
    server.start()
    try:
        place = server.address
        if subject.redis and subject.name != "Redisson":
            place = f"127.0.0.1:{server.port}" if subject.name == "asynq" else str(server.port)
        done = subprocess.run([*map(str, subject.command), place, str(subject.count), str(CONCURRENCY)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, **subject.environment}, timeout=RUN_WITHIN_S, stderr=subprocess.PIPE)
        result = next((json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")), None)
        if result is None:
            raise RuntimeError(f"{subject.name} ended with status {done.returncode} and no result:\n{done.stderr[-1000:]}")
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)
    if result["repeats"]:
        raise RuntimeError(f"{subject.name} handled {result['repeats']} messages twice")
    return subject.count / result["all_s"]


def workers(rows, scratch, quick):
    """Jobs per second of one worker process, from the first put until all are acknowledged."""
    OUT.mkdir(parents=True, exist_ok=True)
    found = list(subjects(quick))
    rates = {subject.name: [] for subject in found}
    for turn in range(1 if quick else ROUNDS):
        for subject in (found if turn % 2 == 0 else found[::-1]):
            if subject.redis and Redis.why_unavailable():
                continue
            rates[subject.name].append(measure(subject, scratch / "workers"))
            print(f"  {subject.name}: {rates[subject.name][-1]:,.0f} jobs/s", file=sys.stderr)
    for subject in found:
        if rates[subject.name]:
            rows.add("workers: jobs/s, from the put to the ack", subject.count, subject.name, "1/s", rates[subject.name])
    for own, peer in (("Duewheel, Python", "Celery"), ("Duewheel, Node", "BullMQ"), ("Duewheel, Go", "asynq"), ("Duewheel, Java", "Redisson")):
        if rates.get(own) and rates.get(peer):
            rows.add("the same, relative to the library on Redis", 0, f"{own} / {peer}", "x", [statistics.median(rates[own]) / statistics.median(rates[peer])])
