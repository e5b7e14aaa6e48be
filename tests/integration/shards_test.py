"""Two servers that share the namespaces, found by a list of their URLs: each answers for its own, and redirects the others."""

import json
import os
import random
import socket
import subprocess
import unittest
import urllib.parse

from daemon import BIN, Daemon

SHARDS = 2
IDS_PER_SHARD = 1024  # an id holds the number of its shard modulo this


def free_ports(count):
    """Below the ports that connections get, so that none takes them meanwhile."""
    found = []
    for port in random.sample(range(10_000, 32_000), 1_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no free ports")


class Shards(unittest.TestCase):
    def setUp(self):
        self.ports = free_ports(SHARDS)
        self.urls = [f"http://127.0.0.1:{port}" for port in self.ports]
        self.servers = []
        for number, port in enumerate(self.ports):
            server = self.enterContext(Daemon(arguments=self.arguments(number)))
            server.listen = f"127.0.0.1:{port}"
            server.start()
            self.servers.append(server)
        # One namespace of each shard, as the servers say.
        self.names = [None] * SHARDS
        for number in range(100):
            status, location = self.location(0, "GET", f"/v1/namespaces/n{number}/queues")
            self.names[1 if status == 307 else 0] = f"n{number}"
            if all(self.names):
                break

    def arguments(self, number, count=SHARDS):
        return ["--shard", str(number), "--shards", str(count), "--shards-urls", ",".join(self.urls)]

    def location(self, server, method, path, value=None):
        client = self.servers[server].client()
        client.connection.request(method, path, None if value is None else json.dumps(value), {"Content-Type": "application/json"})
        response = client.connection.getresponse()
        response.read()
        return response.status, response.getheader("Location")

    def duewheel(self, server, *arguments, stdin=b"", code=0):
        """The members of the response to a command that is sent to this server."""
        environment = {"DUEWHEEL_SERVER": self.urls[server], "PATH": os.environ["PATH"]}
        done = subprocess.run([BIN / "duewheel", *arguments, "--json"], input=stdin, capture_output=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return json.loads(done.stdout) if code == 0 else done.stderr.decode()

    def test_any_server_leads_to_the_one_that_owns_the_namespace(self):
        for owner, name in enumerate(self.names):
            other = 1 - owner
            put = self.duewheel(other, "--namespace", name, "put", "q", "x" * 100_000)
            self.assertEqual(int(put["id"]) % IDS_PER_SHARD, owner)
            self.assertEqual(self.location(other, "GET", f"/v1/namespaces/{name}/queues?limit=5"),
                             (307, f"{self.urls[owner]}/v1/namespaces/{name}/queues?limit=5"))
            self.assertEqual(self.location(owner, "GET", f"/v1/namespaces/{name}/queues?limit=5"), (200, None))
            self.duewheel(other, "--namespace", name, "put", "q", "second")
            self.duewheel(other, "--namespace", name, "put", "q", "third")
            # A lease is found without the namespace, by its token.
            leased = self.duewheel(other, "--namespace", name, "lease", "q", "--max", "10")["messages"]
            self.assertEqual(len(leased), 3)
            self.assertEqual(len(leased[0]["body"]), 100_000)
            tokens = [message["lease"] for message in leased]
            self.assertEqual(self.duewheel(other, "ack", tokens[0])["outcome"], "done")
            status, location = self.location(other, "POST", "/v1/leases:ack", {"leases": tokens[1:]})
            self.assertEqual((status, urllib.parse.urlsplit(location).port), (307, self.ports[owner]))
            status, answer = self.servers[owner].client().request("POST", "/v1/leases:ack", {"leases": tokens[1:]})
            self.assertEqual([result["outcome"] for result in answer["results"]], ["done", "done"])
        # Schedules and settings too; what is not of a namespace is of the server that is asked.
        self.duewheel(0, "--namespace", self.names[1], "schedule", "set", "s", "q", "b", "--every", "1h")
        self.assertEqual(self.duewheel(0, "--namespace", self.names[1], "schedule", "get", "s")["schedule"], "s")
        for server in range(SHARDS):
            self.duewheel(1 - server, "namespace", "set", self.names[server], "--pending", "5")
            _, answer = self.servers[server].client().request("GET", "/v1/namespaces")
            self.assertEqual([space["namespace"] for space in answer["namespaces"]], [self.names[server]])
            for path in ["/v1/stats", "/metrics", "/readyz", "/v1/clock", "/"]:
                self.assertEqual(self.location(server, "GET", path), (200, None), path)

    def test_the_owner_of_a_namespace_is_away(self):
        self.servers[1].kill()
        error = self.duewheel(0, "--namespace", self.names[1], "put", "q", "x", code=3)
        self.assertIn(f"Cannot reach the server at {self.urls[1]}, to which {self.urls[0]} redirects", error)
        self.duewheel(0, "--namespace", self.names[0], "put", "q", "x")
        self.servers[1].start()
        self.duewheel(0, "--namespace", self.names[1], "put", "q", "x")

    def test_the_shard_of_existing_data_cannot_be_changed(self):
        self.duewheel(0, "--namespace", self.names[1], "put", "q", "x")
        server = self.servers[1]
        server.terminate()
        for number, count in [(0, 2), (1, 3), (0, 1)]:
            urls = (self.urls + ["http://127.0.0.1:1"])[:count] if count > 1 else []
            shards = ["--shard", str(number), "--shards", str(count), *(["--shards-urls", ",".join(urls)] if urls else [])]
            done = subprocess.run([BIN / "duewheeld", "--data", server.data, "--http", "127.0.0.1:0", *shards],
                                  capture_output=True, text=True, timeout=60, env=server.environment)
            self.assertEqual(done.returncode, 65, done.stderr)
            self.assertIn("shards_changed", done.stderr)
            self.assertIn(f"has the log of shard 1 of 2, and the settings shards.number and shards.count say shard {number} of {count}",
                          done.stderr)
        server.start()
        self.assertEqual(self.duewheel(0, "--namespace", self.names[1], "queue", "get", "q")["pending"], 1)

    # It was refused as one of shard 0 of 1, so that a server that requires tokens could never have one.
    def test_the_first_token_of_a_shard_is_made_in_its_directory(self):
        server = self.servers[1]
        server.terminate()
        done = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--admin", "--data", server.data], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        server.arguments.append("--auth-required")
        server.start()
        client = server.client()
        self.assertEqual(client.request("GET", "/v1/stats")[0], 401)
        self.assertEqual(client.request_text("GET", "/v1/tokens/admin", None, {"Authorization": f"Bearer {done.stdout.strip()}"})[0], 200)

    def test_settings_that_make_no_sense_are_refused(self):
        for arguments, setting in [(["--shard", "2", "--shards", "2", "--shards-urls", ",".join(self.urls)], "shards.number"),
                                   (["--shards", "2"], "shards.urls"),
                                   (["--shards", "3", "--shards-urls", ",".join(self.urls)], "shards.urls"),
                                   (["--shards", "2", "--shards-urls", "node1,node2"], "shards.urls"),
                                   (["--shards", "2", "--kafka-bootstrap", "127.0.0.1:1", "--kafka-log-replicate",
                                     "--shards-urls", ",".join(self.urls)], "shards.urls")]:
            done = subprocess.run([BIN / "duewheeld", "--print-config", *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"the setting {setting}", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
