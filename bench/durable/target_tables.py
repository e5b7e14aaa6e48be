"""The pages of the groups beanstalkd and hostile, made from the run's file alone: a table of targets, and one of all figures."""

from durable import beanstalkd_groups, hostile_groups
from durable.beanstalkd_groups import F0, F50
from durable.peer_tables import name_of, run_line, span
from durable.subject import BY_BEANSTALK
from durable.targets import Target, table, target_table

HTTP = "duewheel"


def both(words, row, sign, limit, to=F50):
    return [Target(f"{words}: {name_of(of)}", row, of, sign, limit, to) for of in (HTTP, BY_BEANSTALK)]


BEANSTALKD = (
    Target("W1, puts/s over 64 connections: Duewheel, HTTP", "W1 puts", HTTP, ">=", 7, F0),
    Target("the same", "W1 puts", HTTP, ">=", 1, F50),
    Target("the same: Duewheel, beanstalkd's protocol", "W1 puts", BY_BEANSTALK, ">=", 1.2, F50),
    *both("W3, lateness p99 of 5,000/s beside 1 M pending", "W3 lateness, p99", "<=", 0.3),
    *both("the same, early messages", "W3 early", "<=", 0, ""),
    *both("W4, drain of 1 M due at one instant, until all are acknowledged", "W4 drain", "<=", 0.1),
    *both("the same, p99 of another queue meanwhile", "W4 other queue, p99", "<=", 0.01),
    *both("W5, puts and cancels/s", "W5 puts and cancels", ">=", 1),
    *both("the same, bytes written to disk per message", "W5 disk written", "<=", 1.1),
    Target("W8, resident set with 1 M pending", "W8 resident set", BY_BEANSTALK, "<=", 0.15, F50),
    Target("the same, restart after `kill -9` until a command is answered", "W8 restart", BY_BEANSTALK, "<=", 0.1, F50),
    Target("W10, put, reserve and delete, 64 connections with one command outstanding", "W10 one outstanding", BY_BEANSTALK, ">=", 1, F50),
    Target("the same, 4 connections with 100 commands pipelined", "W10 pipelined", BY_BEANSTALK, ">=", 4, F50),
)
# Row, words, digits after the point.
BEANSTALKD_FIGURES = (
    ("W1 puts", "W1: puts/s, 64 connections", 0), ("W1 puts, p99", "the same: latency p99, ms", 1),
    ("W1 server CPU per put", "the same: server CPU per put, us", 1),
    ("W3 lateness, p50", "W3: lateness of 5,000/s, 1 M pending, ms: p50", 1), ("W3 lateness, p99", "the same: p99", 1),
    ("W3 lateness, max", "the same: max", 1), ("W3 early", "the same: early", 0), ("W3 lost or twice", "the same: lost, or delivered twice", 0),
    ("W4 drain", "W4: 1 M due at one instant, until all are acknowledged, s", 1),
    ("W4 other queue, p99", "the same: lateness of another queue, ms: p99", 1), ("W4 other queue, max", "the same: max", 1),
    ("W4 lost, twice or early", "the same: lost, twice or early", 0),
    ("W5 puts and cancels", "W5: puts and cancels/s", 0), ("W5 disk written", "the same: bytes written to disk per message", 0),
    ("W8 resident set", "W8: resident set with 1 M pending, MB", 0), ("W8 restart", "the same: restart, s", 2),
    ("W10 one outstanding", "W10: put, reserve and delete/s, one command outstanding", 0),
    ("W10 one outstanding, server CPU", "the same: server CPU, us", 1), ("W10 one outstanding, client CPU", "the same: client CPU, us", 1),
    ("W10 one outstanding, lost or twice", "the same: lost, or delivered twice", 0),
    ("W10 pipelined", "W10: put, reserve and delete/s, pipelined", 0), ("W10 pipelined, server CPU", "the same: server CPU, us", 1),
    ("W10 pipelined, client CPU", "the same: client CPU, us", 1), ("W10 pipelined, lost or twice", "the same: lost, or delivered twice", 0),
)
HOSTILE = tuple(Target(f"p99 beside {kind}, relative to p99 alone: {words}", f"{row}, relative to alone", kind, "<=", 2)
                for kind in hostile_groups.KINDS for row, words in hostile_groups.HEALTHY.items())
HOSTILE_FIGURES = tuple((row, words + ", ms", 2) for row, words in hostile_groups.HEALTHY.items())
# Group: prefix of its rows, targets, figures, subjects.
GROUPS = {"beanstalkd": (beanstalkd_groups.PREFIX, BEANSTALKD, BEANSTALKD_FIGURES, (HTTP, BY_BEANSTALK, F0, F50)),
          "hostile": (hostile_groups.PREFIX, HOSTILE, HOSTILE_FIGURES, (hostile_groups.ALONE, *hostile_groups.KINDS))}


def page(result, prefix, targets, figures, subjects):
    rows = {(row["workload"].removeprefix(prefix), row["subject"]): row for row in result["rows"] if row["workload"].startswith(prefix)}
    if not rows:
        return None
    measured = [subject for subject in subjects if any(of == subject for _, of in rows)]
    rounds = max(row["rounds"] for (_, of), row in rows.items() if of != "disk")
    of_figures = [[words, *(span(rows.get((row, subject)), digits) for subject in measured)] for row, words, digits in figures]
    return "\n".join((run_line(result, rounds, rows.get(("fdatasync alone", "disk"))), target_table(targets, rows),
                      table(["", *(name_of(subject) for subject in measured)], of_figures)))


# Rows of the page "beanstalkd" that docs/beanstalk.md shows: their first words there, and in short.
BEANSTALKD_SHORT = (
    ("W10: put, reserve and delete/s, one command outstanding", "put, reserve and delete/s, 64 connections with one command outstanding"),
    ("W10: put, reserve and delete/s, pipelined", "the same, 4 connections with 100 commands pipelined"),
    ("W1: puts/s, 64 connections", "puts/s over 64 connections"),
    ("W5: puts and cancels/s", "puts and cancels/s"),
    ("W4: 1 M due at one instant, until all are acknowledged, s", "1 million jobs due at one instant, until all are deleted, s"),
    ("W8: resident set with 1 M pending, MB", "memory with 1 million jobs, MB"),
    ("W8: restart, s", "`kill -9` to the first reply with 1 million jobs, s"),
    ("W3: p99, ms", "lateness at 5,000 jobs a second, p99, ms"),
)


def rows_of(page):
    """{first words: cells} of the last table of a page; "the same" gets the name of the workload before it."""
    rows, workload = {}, ""
    for line in page.split("\n\n")[-1].splitlines():
        words, *cells = line.strip("| ").split(" | ")
        if words.startswith("W"):
            workload = words.partition(":")[0]
        rows[words.replace("the same", workload)] = [cell.partition(" (")[0] for cell in cells]
    rows["W3: p99, ms"] = rows.get("W3: p99", [])
    return rows


def beanstalkd_in_short(page):
    """The medians of the page "beanstalkd" that users of beanstalkd ask for, made from its text alone."""
    rows = rows_of(page)
    # The columns: Duewheel over HTTP and over beanstalkd's protocol, beanstalkd -f0 and -f50.
    return table(["", "Duewheel, on disk", "`beanstalkd -f0`, on disk", "`beanstalkd -f50`, in memory"],
                 [[short, *rows[words][1:]] for words, short in BEANSTALKD_SHORT])


def pages(result):
    """{group: page} of the groups that were run."""
    made = {name: page(result, *how) for name, how in GROUPS.items()}
    return {name: text for name, text in made.items() if text}
