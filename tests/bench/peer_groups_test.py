#!/usr/bin/env python3
"""How the benchmarks beside other servers are run: in turns, with the servers that are there, and without those that fail."""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable import peer_groups, peer_servers
from durable.peer_groups import Peer
from durable.subject import Rows


class FakeServer:
    def __init__(self, directory):
        self.directory = directory
        self.process = mock.Mock(pid=0)
        self.address = "http://127.0.0.1:1"

    def start(self):
        self.directory.mkdir()

    def stop(self):
        pass


class Peers(unittest.TestCase):
    def setUp(self):
        self.enterContext(mock.patch.object(peer_groups, "sync_rate", lambda *unused: 1000))
        self.enterContext(mock.patch.object(peer_groups, "per_pending", lambda peer, server, count: {
            "memory per pending message": ("bytes", count)}))
        self.errors = self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.measured = []

    def run_peers(self, peers, round_of=lambda client, number: {"puts": ("1/s", 100 * number)}):
        def one_round(peer, server, seconds, number):
            self.measured.append(peer.client)
            self.assertTrue(server.directory.exists())
            return round_of(peer.client, number)

        rows = Rows()
        with (mock.patch.object(peer_groups, "PEERS", peers), mock.patch.object(peer_groups, "present", lambda: dict(peers)),
              mock.patch.object(peer_groups, "one_round", one_round), tempfile.TemporaryDirectory() as scratch):
            peer_groups.peers(rows, pathlib.Path(scratch), quick=False)
            self.assertEqual(list(pathlib.Path(scratch).iterdir()), [])
        return {(row["workload"], row["subject"]): row for row in rows.rows}

    def test_each_round_begins_with_another_server(self):
        self.run_peers({name: Peer(name, FakeServer) for name in "abc"})
        self.assertEqual("".join(self.measured), "abc" "bca" "cab")

    def test_a_row_has_the_figures_of_all_rounds(self):
        rows = self.run_peers({"a": Peer("a", FakeServer)})
        self.assertEqual(rows["peers: puts", "a"]["values"], [100, 200, 300])
        self.assertEqual(rows["peers: fdatasync alone", "disk"]["rounds"], 3)

    def test_a_server_that_fails_in_a_round_is_excluded_and_the_others_are_measured(self):
        def fail_late(client, number):
            if client == "b" and number == 2:
                raise RuntimeError("no response")
            return {"puts": ("1/s", number)}

        rows = self.run_peers({name: Peer(name, FakeServer) for name in "abc"}, fail_late)
        self.assertNotIn(("peers: puts", "b"), rows)
        self.assertEqual(rows["peers: puts", "c"]["rounds"], 3)
        self.assertEqual("".join(self.measured), "abc" "bca" "ca")
        self.assertIn("excluded: b (no response)", self.errors.getvalue())

    def test_what_a_client_cannot_do_has_a_row_that_says_so(self):
        rows = self.run_peers({"x": Peer("rabbitmq", FakeServer), "y": Peer("beanstalk", FakeServer)})
        self.assertIn("cannot", rows["peers: puts and cancels", "x"]["why"])
        self.assertIn("cannot", rows["peers: puts in batches", "y"]["why"])

    def test_pending_messages_are_measured_once_for_each_server(self):
        rows = self.run_peers({"a": Peer("a", FakeServer), "b": Peer("a", FakeServer, pending=False)})
        self.assertEqual(rows["peers: memory per pending message", "a"]["rounds"], 1)
        self.assertNotIn(("peers: memory per pending message", "b"), rows)


class Present(unittest.TestCase):
    def test_a_server_that_is_not_installed_is_skipped_by_name(self):
        peers = {"here": Peer("a", FakeServer), "away": Peer("b", FakeServer, lambda: "there is no away-server")}
        errors = io.StringIO()
        with (tempfile.TemporaryDirectory() as place, contextlib.redirect_stderr(errors),
              mock.patch.object(peer_groups, "PEERS", peers), mock.patch.object(peer_groups, "PACKAGES", pathlib.Path(place)),
              mock.patch("shutil.which", lambda name: f"/usr/bin/{name}")):
            self.assertEqual(peer_groups.present(), {})
            self.assertIn("skipped: all peers", errors.getvalue())
            (pathlib.Path(place) / "node_modules").mkdir()
            self.assertEqual(list(peer_groups.present()), ["here"])
        self.assertIn("skipped: away (there is no away-server)", errors.getvalue())


class StartingServer(peer_servers.PeerServer):
    """Listens at once, and is ready at the third look, as PostgreSQL, which says `the database system is starting up` until then."""
    looks = 0

    def launch(self):
        return self.spawn([sys.executable, "-c", f"import socket\nwith socket.create_server(('127.0.0.1', {self.port})) as s:\n while s.accept(): pass"])

    def is_ready(self):
        self.looks += super().is_ready()
        return self.looks == 3


class Start(unittest.TestCase):
    def test_a_server_that_listens_may_not_be_ready_yet(self):
        # PostgreSQL refused the session of a load program that connected 50 ms after its port was open, and River was excluded.
        with tempfile.TemporaryDirectory() as place:
            server = StartingServer(pathlib.Path(place) / "server")
            server.start()
            self.addCleanup(server.stop)
            self.assertEqual(server.looks, 3)


class Program(unittest.TestCase):
    def test_each_client_has_a_load_program_and_a_library(self):
        with mock.patch.object(peer_groups, "bun", lambda: pathlib.Path("/bin/bun")):
            programs = {name: [str(word) for word in peer.program] for name, peer in peer_groups.PEERS.items()}
        self.assertEqual(programs["PostgreSQL, River"], [str(TREE / "build" / "peers" / "river")])
        self.assertEqual(programs["bunqueue durable"], ["/bin/bun", str(peer_groups.HERE / "load.mjs"), "bunqueue"])
        self.assertEqual(programs["PostgreSQL, pg-boss"], ["node", str(peer_groups.HERE / "load.mjs"), "pg_boss"])
        for name, peer in peer_groups.PEERS.items():
            self.assertTrue(peer.library, name)
            self.assertTrue(peer.client == "river" or (peer_groups.HERE / "clients" / f"{peer.client}.mjs").exists(), name)

    def test_bunqueue_is_skipped_on_a_processor_that_bun_has_no_program_for(self):
        with tempfile.TemporaryDirectory() as place, mock.patch.object(peer_servers, "PACKAGES", pathlib.Path(place) / "build" / "peers" / "node"):
            bin_folder = peer_servers.PACKAGES / "node_modules" / "@oven" / "bun-linux-x64" / "bin"
            bin_folder.mkdir(parents=True)
            for script, usable in (("exit 132", False), ("exit 0", True)):  # 132: an instruction that the processor does not have
                (bin_folder / "bun").write_text(f"#!/bin/sh\n{script}\n")
                (bin_folder / "bun").chmod(0o755)
                peer_servers.bun.cache_clear()
                self.assertEqual(peer_servers.bun() is not None, usable)
                self.assertEqual(peer_servers.Bunqueue.why_unavailable() is None, usable)
        peer_servers.bun.cache_clear()


@unittest.skipUnless(shutil.which("node"), "node is not installed (Debian: nodejs)")
class Client(unittest.TestCase):
    def test_a_load_program_that_ends_without_a_result_is_an_error(self):
        with mock.patch.object(peer_groups, "HERE", pathlib.Path("/nowhere")):
            client = peer_groups.LoadClient(Peer("duewheel", FakeServer), FakeServer(None))
        self.addCleanup(client.stop)
        with self.assertRaisesRegex(RuntimeError, "gave no result of puts"):
            client.run("puts")


if __name__ == "__main__":
    unittest.main()
