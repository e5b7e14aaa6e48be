#!/usr/bin/env python3
"""The pages of the comparison with other servers, from rows with known figures."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable import peer_chart, peer_plot, peer_servers, peer_tables
from durable.peer_groups import CANNOT_CANCEL
from durable.subject import BY_BEANSTALK, Rows
from wheel import tables

RABBITMQ, PG_BOSS = "RabbitMQ, amqplib", "PostgreSQL, pg-boss"


def result_of(rows):
    return {"command": "./dev bench durable --only peers --record", "date": "2026-11-28", "rows": rows.rows,
            "machine": {"cpu": "a processor", "cores": 2, "kernel": "6.18", "load": 0.25}}


def example():
    rows = Rows()
    rows.add("peers: fdatasync alone", 0, "disk", "1/s", [9000, 10_000, 11_000])
    for subject, rates in (("duewheel", [8000, 10_000, 9000]), (BY_BEANSTALK, [20_000, 30_000, 25_000]),
                           ("beanstalkd -f0", [4000, 5000, 2500]), (PG_BOSS, [1000, 1000, 1000]),
                           (RABBITMQ, [4500, 4000, 5000])):
        rows.add("peers: puts", 0, subject, "1/s", rates)
    rows.add("peers: puts and cancels", 0, "duewheel", "1/s", [5000, 6000, 7000])
    rows.cannot("peers: puts and cancels", 0, RABBITMQ, "1/s", CANNOT_CANCEL)
    rows.add("peers: lateness, p99", 0, PG_BOSS, "ms", [480, 500, 510])
    rows.add("peers: lateness, p99", 0, "duewheel", "ms", [0, 0, 0])
    # What is freed meanwhile may be more than what is allocated.
    rows.add("peers: memory per pending message", 200_000, PG_BOSS, "bytes", [-5.6])
    rows.add("peers: lost", 0, PG_BOSS, "messages", [0, 2, 0])
    # Rows of another group of the same run.
    rows.add("W1 puts, 64 connections", 64, "duewheel", "1/s", [1, 2, 3])
    return rows


def line_of(page, words):
    return next([cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()
                if line.startswith(f"| {words} |"))


class Pages(unittest.TestCase):
    def setUp(self):
        self.pages = peer_tables.pages(result_of(example()))

    def test_a_cell_of_the_full_page_has_median_minimum_and_maximum(self):
        line = line_of(self.pages["peers"], "puts/s, 64 calls in progress")
        self.assertEqual(line[1], "9,000 (8,000 to 10,000)")
        self.assertEqual(line[4], "1,000")

    def test_the_columns_are_the_servers_that_were_measured(self):
        head = next(line for line in self.pages["peers"].splitlines() if line.startswith("|  |"))
        self.assertEqual(head, "|  | Duewheel, HTTP (undici) | Duewheel, beanstalkd's protocol (jackd) | "
                               "beanstalkd -f0 (jackd) | PostgreSQL, pg-boss | RabbitMQ, amqplib |")

    def test_what_a_server_cannot_do_is_written_as_such(self):
        self.assertEqual(line_of(self.pages["peers"], "puts and cancels/s, 64 calls in progress")[5], "cannot")

    def test_what_was_not_measured_is_a_dash(self):
        self.assertEqual(line_of(self.pages["peers"], "puts and cancels/s, 64 calls in progress")[4], "-")

    def test_the_ledger_is_shown(self):
        self.assertEqual(line_of(self.pages["peers"], "lost")[4], "0 (0 to 2)")

    def test_what_a_server_promises_is_in_the_table(self):
        rows = example()
        rows.add("peers: puts", 0, "Redis everysec, BullMQ", "1/s", [6000, 6000, 6000])
        line = line_of(peer_tables.pages(result_of(rows))["peers"], "before the response")
        self.assertEqual(line[4:6], ["in memory; on disk within a second", "on disk"])

    def test_a_target_is_compared_through_node_and_through_the_load_program(self):
        rows = example()
        rows.add("peers: puts, C++ client", 0, "duewheel", "1/s", [12_000, 11_000, 13_000])
        lines = [line for line in peer_tables.pages(result_of(rows))["peers"].splitlines() if f">= 10 x `{PG_BOSS}`" in line]
        self.assertEqual([line.strip("| ").split(" | ")[2] for line in lines], ["9 (8 to 10): **missed**", "12 (11 to 13): met"])

    def test_the_pages_name_their_command(self):
        for page in self.pages.values():
            self.assertIn("`./dev bench durable --only peers --record`", page)

    def test_a_run_of_other_groups_has_no_pages(self):
        rows = Rows()
        rows.add("W1 puts, 64 connections", 64, "duewheel", "1/s", [1, 2, 3])
        self.assertEqual(peer_tables.pages(result_of(rows)), {})

    def test_a_page_is_put_between_its_marks_and_nowhere_else(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "README.md"
            path.write_text("before\n<!-- durable: peers -->\nold\n<!-- end -->\nafter\n<!-- wheel: peers -->\nkept\n<!-- end -->\n")
            tables.record({"peers": "new"}, path, "durable")
            self.assertEqual(path.read_text(), "before\n<!-- durable: peers -->\n\nnew\n<!-- end -->\nafter\n"
                                               "<!-- wheel: peers -->\nkept\n<!-- end -->\n")
            with self.assertRaises(SystemExit):
                tables.record({"others": "new"}, path, "durable")

    def test_the_marks_are_in_both_pages(self):
        for page, name in (("bench/README.md", "peers"), ("README.md", "peers in short")):
            self.assertTrue(f"<!-- durable: {name} -->\n" in (TREE / page).read_text(), page)


class Chart(unittest.TestCase):
    def test_every_server_of_a_row_has_a_bar_with_its_median(self):
        drawn = peer_chart.chart(peer_tables.pages(result_of(example()))["peers"])
        for words in ("Duewheel, HTTP<", "beanstalkd -f0<", f"{PG_BOSS}<", ">9,000<", ">25,000<", ">500<"):
            self.assertIn(words, drawn)
        # The longest bar is that of the largest figure; what is freed meanwhile may be more than what is allocated.
        self.assertIn(f'class="own" x="220" y="63" width="{peer_chart.BAR:.1f}"', drawn)
        self.assertNotIn("-6", drawn)

    def test_the_picture_in_the_tree_is_that_of_the_table_in_the_tree(self):
        page = (TREE / "bench" / "README.md").read_text().partition("<!-- durable: peers -->\n")[2].partition("<!-- end -->")[0]
        path = TREE / "docs" / "pictures" / "peers.svg"
        if os.environ.get("DUEWHEEL_RECORD"):
            path.write_text(peer_chart.chart(page))
        self.assertEqual(path.read_text(), peer_chart.chart(page))


class Plot(unittest.TestCase):
    def test_every_server_of_a_row_has_a_bar_with_its_figure(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("there is no matplotlib (Debian: python3-matplotlib)")
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "peers.svg"
            self.assertTrue(peer_plot.draw(result_of(example()), path))
            drawn = path.read_text()
            for words in ("Duewheel, HTTP", "beanstalkd -f0", PG_BOSS, "9,000", "25,000"):
                self.assertIn(words, drawn)
            peer_plot.draw(result_of(example()), path)
            self.assertEqual(path.read_text(), drawn)

    def test_a_run_of_other_groups_has_no_plot(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertFalse(peer_plot.draw(result_of(Rows()), pathlib.Path(directory) / "peers.svg"))


class ProcessTree(unittest.TestCase):
    def test_it_has_descendants_and_counts_those_that_have_ended(self):
        # The shell's first child burns processor time and ends; the second one stays.
        burn = f"{sys.executable} -c 'import time; exec(\"while time.process_time() < 0.3: pass\")'"
        with subprocess.Popen(["sh", "-c", f"{burn}; cat; :"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
            shell.stdin.write(b"the first has ended\n")
            shell.stdin.flush()
            shell.stdout.readline()
            tree = peer_servers.process_tree(shell.pid)
            self.assertEqual(tree[0], shell.pid)
            self.assertEqual(len(tree), 2)
            self.assertGreaterEqual(peer_servers.cpu_seconds(shell.pid), 0.25)
            self.assertGreater(peer_servers.memory_bytes(shell.pid), 100_000)
            shell.stdin.close()


if __name__ == "__main__":
    unittest.main()
