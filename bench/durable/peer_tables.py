"""The pages of a run of `durable --only peers`, made from the run's file alone: `peers` has all rows, with minimum and
maximum; `peers in short` has one line a server, with Duewheel's figure relative to it."""

import statistics

from durable.peer_groups import PEERS
from durable.subject import BY_BEANSTALK
from durable.targets import Target, table, target_table

NAMES = {"duewheel": "Duewheel, HTTP", BY_BEANSTALK: "Duewheel, beanstalkd's protocol"}
SYNCED = "on disk"
PROMISES = {"beanstalkd -f50": "in memory; on disk within 50 ms", "Redis everysec, BullMQ": "in memory; on disk within a second",
            "bunqueue durable": "in memory; on disk after 4 MB more of its log"}
# Row, words, whether the larger figure is the better one, digits after the point.
ROWS = (("puts, C++ client", "puts/s, 64 connections of the C++ load program", True, 0),
        ("puts, C++ client, p99", "the same: latency p99, ms", False, 1),
        ("puts, C++ client, server CPU", "the same: server CPU per put, us", False, 1),
        ("puts", "puts/s, 64 calls in progress", True, 0),
        ("puts, p99", "the same: latency p99, ms", False, 1),
        ("puts, server CPU", "the same: server CPU per put, us", False, 1),
        ("puts, client CPU", "the same: client CPU per put, us", False, 1),
        ("puts in batches", "puts/s in batches of 500, 4 calls in progress", True, 0),
        ("put, delivered, acknowledged", "messages/s put with a delay of 1 s, delivered and acknowledged at the same time", True, 0),
        ("puts and cancels", "puts and cancels/s, 64 calls in progress", True, 0),
        ("lateness, p50", "lateness at 200 messages/s, ms: p50", False, 0),
        ("lateness, p99", "the same: p99", False, 0),
        ("lateness, max", "the same: max", False, 0),
        ("memory per pending message", "memory per pending message, bytes", False, 0),
        ("disk per pending message", "disk per pending message, bytes", False, 0),
        ("early", "delivered early", False, 0), ("lost", "lost", False, 0),
        ("unacknowledged", "delivered, but not acknowledged", False, 0), ("twice", "delivered again", False, 0),
        ("after_cancel", "delivered after a cancel", False, 0))
SHORT = (("puts, C++ client", "puts/s, C++ client"), ("puts", "puts/s, usual client"), ("puts, server CPU", "server CPU per put, us"),
         ("puts in batches", "puts/s in batches of 500"), ("put, delivered, acknowledged", "put, delivered, acknowledged/s"), ("puts and cancels", "puts and cancels/s"),
         ("lateness, p99", "lateness p99, ms"), ("memory per pending message", "memory per pending message, bytes"))
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

    def ratio(self, row, subject):
        """Duewheel's figure relative to that of the subject through the same client, if that is another server's: the
        median of the ratios of the rounds. Through a client that Duewheel does not have, it is that of HTTP."""
        ours = BY_BEANSTALK if PEERS[subject].client == "beanstalk" else "duewheel"
        own, other = self.get(row, ours), self.get(row, subject)
        if subject in NAMES or not own or not other or not own["median"] or not other["median"]:
            return None
        return statistics.median(mine / theirs for mine, theirs in zip(own["values"], other["values"]))


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
    lines = []
    for row, words, _, digits in ROWS:
        if any(run.get(row, name) for name in run.subjects):
            lines.append([words, *(span(run.get(row, name), digits) for name in run.subjects)])
    head = ["", *(f"{name_of(name)} ({PEERS[name].library})" if name in NAMES or "beanstalkd" in name else name
                  for name in run.subjects)]
    rounds = max(row["rounds"] for row in run.rows.values() if row["workload"] == "peers: puts")
    return "\n".join((run_line(run.result, rounds, run.get("fdatasync alone", "disk")), target_table(TARGETS, run.rows), table(head, lines)))


def short_cell(run, row, subject):
    found = run.get(row, subject)
    if found is None or found["median"] is None:
        return span(found, 0)
    larger = next(better for name, _, better, _ in ROWS if name == row)
    ratio = run.ratio(row, subject) if larger else None
    return f"{found['median']:,.0f}" + (f" ({ratio:,.1f} x)" if ratio else "")


def short_page(run):
    lines = [[name_of(name), PROMISES.get(name, SYNCED), *(short_cell(run, row, name) for row, _ in SHORT)]
             for name in run.subjects]
    return (table(["server, client", "before the response", *(words for _, words in SHORT)], lines) + "\n" +
            f"`{run.result['command']}` wrote this table on {run.result['date']}: medians, on {run.result['machine']['cores']} virtual "
            f"cores that the client shares, load {run.result['machine']['load']:.1f} at the start. In brackets is Duewheel's figure relative to the line: over beanstalkd's protocol for "
            "beanstalkd, over HTTP for the others.\n")


def pages(result):
    run = Run(result)
    return {"peers": full_page(run), "peers in short": short_page(run)} if run.subjects else {}
