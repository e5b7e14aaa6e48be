"""Administrators of a namespace who aim a queue at topics that are not theirs.

The story: with a token for one namespace a queue was aimed at __consumer_offsets, at the log of another cluster, and at the
errors topic; the server wrote there with its own permissions. No broker is needed: the request itself is refused.
"""

import http.client
import json
import subprocess
import unittest

from attacks import main
from daemon import BIN, Daemon

INTERNAL = ["__consumer_offsets", "__transaction_state", "duewheel.default.log", "duewheel.default.ledger", "duewheel.other.log",
            "duewheel.other.ledger", "duewheel.other.owners", "duewheel.errors"]


class KafkaTargets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(arguments=["--auth-required", "--kafka-bootstrap", "127.0.0.1:1", "--kafka-out-topics",
                                       "team=payments.*,guest=*"])
        cls.addClassCleanup(cls.daemon.__exit__, None, None, None)
        cls.daemon.data.mkdir()
        cls.admin = cls.token("token", "add", "admin", "--data", str(cls.daemon.data), "--admin")
        cls.daemon.start()
        cls.tenants = {name: cls.token("token", "add", name, "--scope", "admin", "--namespace", name)
                       for name in ("team", "guest", "stranger")}
        cls.prefixed = cls.token("token", "add", "prefixed", "--scope", "admin", "--queues", "q")

    @classmethod
    def token(cls, *words):
        server = ["--server", f"http://127.0.0.1:{cls.daemon.port}"] if cls.daemon.port else []
        environment = {**cls.daemon.environment, **({"DUEWHEEL_TOKEN": cls.admin} if cls.daemon.port else {})}
        done = subprocess.run([BIN / "duewheel", *server, *words], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def aim(self, token, name_space, topic, method="PUT"):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=60)
        self.addCleanup(connection.close)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        connection.request(method, f"/v1/namespaces/{name_space}/queues/q", json.dumps({"target": {"kafka": {"topic": topic}}}),
                           {"Content-Type": kind, "Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()).get("code")

    def test_nobody_aims_at_internal_topics(self):
        for topic in INTERNAL:
            for method in ("PUT", "PATCH"):
                with self.subTest(f"{method} {topic}"):
                    self.assertEqual(self.aim(self.admin, "team", topic, method), (400, "bad_kafka_target"))
                    self.assertEqual(self.aim(self.tenants["guest"], "guest", topic, method), (400, "bad_kafka_target"))

    def test_a_namespace_uses_only_what_is_listed_for_it(self):
        for method in ("PUT", "PATCH"):
            self.assertEqual(self.aim(self.tenants["team"], "team", "payments.eu", method), (200, None))
            self.assertEqual(self.aim(self.tenants["guest"], "guest", "anything", method), (200, None))
            for topic in ("payments", "orders", *INTERNAL):
                self.assertEqual(self.aim(self.tenants["team"], "team", topic, method), (403, "forbidden"), topic)

    def test_where_nothing_is_listed_only_administrators_of_the_server_set_targets(self):
        for method in ("PUT", "PATCH"):
            self.assertEqual(self.aim(self.tenants["stranger"], "stranger", "payments.eu", method), (403, "forbidden"))
            self.assertEqual(self.aim(self.prefixed, "stranger", "payments.eu", method), (403, "forbidden"))
            self.assertEqual(self.aim(self.admin, "stranger", "payments.eu", method), (200, None))


if __name__ == "__main__":
    main(tries=18)
