"""Attacks on the audit log: to push lines out of it, to hide an act in noise, and to fill its lines."""

import json
import subprocess
import time
import unittest

from attacks import main
from daemon import BIN, Daemon

FLOOD = 1200


def duewheel(*arguments):
    return subprocess.run([BIN / "duewheel", *map(str, arguments)], capture_output=True, text=True, timeout=120)


class AuditAttack(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(arguments=["--auth-required"]))
        self.daemon.data.mkdir()
        made = duewheel("token", "add", "root", "--admin", "--data", self.daemon.data)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.root = made.stdout.strip()
        self.daemon.start()
        self.client = self.daemon.client()
        self.tenant = self.ask("PUT", "/v1/tokens/tenant", {"scopes": ["admin"], "namespaces": ["shop"]}, self.root)[1]["token"]

    def ask(self, method, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.client.request_text(method, path, None if body is None else json.dumps(body), headers)

    def lines(self):
        every = [json.loads(line) for path in sorted((self.daemon.data / "audit").glob("audit-*.jsonl"))
                 for line in path.read_text().splitlines()]
        return [line for line in every if line["verb"] != "audit.file"]

    def wait_for_line(self, **members):
        deadline = time.monotonic() + 20
        while True:
            found = [line for line in self.lines() if all(line.get(name) == value for name, value in members.items())]
            if found:
                return found
            self.assertLess(time.monotonic(), deadline, f"no line has {members}")
            time.sleep(0.02)

    def told(self):
        """Refusals of the tenant that have a line or are counted in one."""
        return sum(line.get("suppressed", 0) + ("outcome" in line) for line in self.lines() if line["actor"] == "tenant")

    # 60,000 of them in four seconds replaced all files, and the verification called the log intact.
    def test_requests_that_are_not_valid_push_no_line_out(self):
        attacks = [("PUT", "/v1/namespaces/shop/queues/-q", {}), ("PUT", "/v1/namespaces/shop/queues/q", {"lease": "soon"}),
                   ("PUT", "/v1/namespaces/shop/queues/" + "q" * 1000, {}), ("POST", "/v1/namespaces/shop/queues/-q:purge", None),
                   ("PUT", "/v1/namespaces/shop/schedules/s", {"nonsense": 1}), ("PUT", "/v1/namespaces/other/queues/q", {})]
        for number in range(FLOOD):
            status, _ = self.ask(*attacks[number % len(attacks)], self.tenant)
            self.assertGreaterEqual(status, 400)
        self.assertEqual(self.daemon.terminate(), 0)
        lines = self.lines()
        of_tenant = [line for line in lines if line["actor"] == "tenant" and "outcome" in line]
        self.assertLess(len(of_tenant), 80, "a burst, and one line every ten seconds")
        self.assertEqual(self.told(), FLOOD, "each is counted")
        self.assertEqual((lines[0]["verb"], lines[0]["object"]), ("token.set", "root"), "the oldest line is still there")
        longest = max(len(line) for path in (self.daemon.data / "audit").glob("audit-*.jsonl") for line in path.read_text().splitlines())
        self.assertLess(longest, 1500)
        verified = json.loads(duewheel("--json", "audit", "verify", "--data", self.daemon.data).stdout)
        self.assertEqual((verified["is_whole"], verified["removed_lines"], verified["lost_young_lines"]), (True, 0, False))
        self.assertIn("whole_from", verified)

    # Refusals of an address had a limit in common with logins and with refused administrative requests from there.
    def test_noise_hides_neither_a_login_nor_a_refused_act(self):
        for _ in range(300):
            self.assertEqual(self.ask("GET", "/v1/queues", None, "dw_none_" + "x" * 43)[0] // 100, 4)
            self.assertEqual(self.ask("GET", "/v1/namespaces/other/queues", None, self.tenant)[0], 403)
            self.assertEqual(self.ask("PUT", "/v1/namespaces/shop/queues/-q", {}, self.tenant)[0], 400)
        self.assertEqual(self.ask("DELETE", "/v1/tokens/root", None, self.tenant)[0], 403)
        self.assertEqual(self.ask("POST", "/v1/session", {"token": self.root})[0], 200)
        self.wait_for_line(verb="token.remove", actor="tenant", object="root", outcome="forbidden")
        self.wait_for_line(verb="session.begin", actor="root", outcome="ok")

    def test_each_of_many_successes_has_its_line(self):
        for number in range(300):
            self.assertEqual(self.ask("PUT", f"/v1/namespaces/shop/queues/q{number}", {}, self.tenant)[0], 200)
        done = self.wait_for_line(verb="queue.set", actor="tenant", outcome="ok")
        self.assertEqual([line["object"] for line in done], [f"q{number}" for number in range(300)])


if __name__ == "__main__":
    main(tries=3)
