"""The pages of a run of `durable --only peers`, made from the run's file alone: `peers` has all rows, with minimum and
maximum; `peers in short` is the picture of the README (peer_chart.py), with the run that it shows."""

from durable.peer_groups import PEERS
from durable.subject import BY_BEANSTALK
from durable.targets import Target, table, target_table

NAMES = {"duewheel": "Duewheel, HTTP", BY_BEANSTALK: "Duewheel, beanstalkd's protocol"}
PROMISE, SYNCED = "before the response", "on disk"
PROMISES = {"beanstalkd -f50": "in memory; on disk within 50 ms", "Redis everysec, BullMQ": "in memory; on disk within a second",
            "bunqueue durable": "in memory; on disk after 4 MB more of its log"}
# Row, words, digits after the point.
ROWS = (("puts, C++ client", "puts/s, 64 connections of the C++ load program", 0),
        ("puts, C++ client, p99", "the same: latency p99, ms", 1),
        ("puts, C++ client, server CPU", "the same: server CPU per put, us", 1),
        ("puts", "puts/s, 64 calls in progress", 0),
        ("puts, p99", "the same: latency p99, ms", 1),
        ("puts, server CPU", "the same: server CPU per put, us", 1),
        ("puts, client CPU", "the same: client CPU per put, us", 1),
        ("puts in batches", "puts/s in batches of 500, 4 calls in progress", 0),
        ("put, delivered, acknowledged", "messages/s put with a delay of 1 s, delivered and acknowledged at the same time", 0),
        ("puts and cancels", "puts and cancels/s, 64 calls in progress", 0),
        ("lateness, p50", "lateness at 200 messages/s, ms: p50", 0),
        ("lateness, p99", "the same: p99", 0),
        ("lateness, max", "the same: max", 0),
        ("memory per pending message", "memory per pending message, bytes", 0),
        ("disk per pending message", "disk per pending message, bytes", 0),
        ("early", "delivered early", 0), ("lost", "lost", 0),
        ("unacknowledged", "delivered, but not acknowledged", 0), ("twice", "delivered again", 0),
        ("after_cancel", "delivered after a cancel", 0))
NONE = "-"
NODE, NATIVE = "W1, puts/s, 64 calls in progress, both through Node: Duewheel, HTTP", "the same, Duewheel through the C++ load program"
TARGETS = tuple(target for peer in ("Redis always, BullMQ", "PostgreSQL, pg-boss") for target in (
    Target(NODE, "puts", "duewheel", ">=", 10, peer), Target(NATIVE, "puts, C++ client", "duewheel", ">=", 10, peer, "puts")))


class Run:
    def __init__(self, result):
        self.result = result
        self.rows = {(row["workload"].removeprefix("peers: "), row["subject"]): row for row in result["rows"]
                     if row["workload"].startswith("peers: ")}
        self.subjects = [name for name in PEERS if ("puts", name) in self.rows]

    def get(self, row, subject):
        return self.rows.get((row, subject))


def name_of(subject):
    return NAMES.get(subject, subject)


def span(row, digits):
    if row is None:
        return NONE
    if row["median"] is None:
        return row["why"].partition(":")[0]
    median, least, most = (f"{row[end]:,.{digits}f}" for end in ("median", "min", "max"))
    return median if least == median == most else f"{median} ({least} to {most})"


def run_line(result, rounds, syncs):
    machine = result["machine"]
    return (f"{result['date']}, `{result['command']}`: {rounds} {'round' if rounds == 1 else 'rounds'} in turns, on "
            f"{machine['cpu']} ({machine['cores']} virtual cores, kernel {machine['kernel']}, load {machine['load']:.1f} at the "
            f"start), {span(syncs, 0)} syncs/s of the disk between the rounds.\n")


def full_page(run):
    lines = [[PROMISE, *(PROMISES.get(name, SYNCED) for name in run.subjects)]]
    for row, words, digits in ROWS:
        if any(run.get(row, name) for name in run.subjects):
            lines.append([words, *(span(run.get(row, name), digits) for name in run.subjects)])
    head = ["", *(f"{name_of(name)} ({PEERS[name].library})" if name in NAMES or "beanstalkd" in name else name
                  for name in run.subjects)]
    rounds = max(row["rounds"] for row in run.rows.values() if row["workload"] == "peers: puts")
    return "\n".join((run_line(run.result, rounds, run.get("fdatasync alone", "disk")), target_table(TARGETS, run.rows), table(head, lines)))


def short_page(run):
    machine = run.result["machine"]
    return ("![Bars: puts a second, messages put, delivered and acknowledged a second, lateness, and memory, of each server]"
            "(docs/pictures/peers.svg)\n\n"
            f"`{run.result['command']}` drew this on {run.result['date']}: medians, on {machine['cores']} virtual cores that the client "
            f"shares, load {machine['load']:.1f} at the start.\n")


def pages(result):
    run = Run(result)
    return {"peers": full_page(run), "peers in short": short_page(run)} if run.subjects else {}
