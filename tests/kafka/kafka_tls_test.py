"""The server with a broker that wants TLS and a login (SASL/PLAIN) and gives no permission that docs/kafka.md does not list:
records pass from topic to topic, and a wrong password, certificate authority or permission is named, without a secret.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import TOOLS, KafkaCluster, skip_without_kafka
from bridge import BIN, ConsoleConsumer, create_topics, produce

sys.path.insert(0, str(TOOLS.parent / "tests" / "integration"))
from certificates import Authority  # noqa: E402
from daemon import Daemon  # noqa: E402

PAGE = TOOLS.parent / "docs" / "kafka.md"
PASSWORD, WRONG = "right-pa55word", "wrong-pa55word"
TOPICS = ["payments.later", "payments", "duewheel.errors", "duewheel.default.ledger"]


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = pathlib.Path(temporary.name)
        cls.authority = Authority(cls.directory)
        certificate, key = cls.authority.issue("broker")
        keystore = cls.directory / "broker-both.pem"
        keystore.write_text(key.read_text() + certificate.read_text())
        cls.cluster = cls.enterClassContext(KafkaCluster(cls.directory / "cluster", sasl_users={"duewheel": PASSWORD}, settings={
            "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL",
            "listener.name.sasl.ssl.keystore.type": "PEM", "listener.name.sasl.ssl.keystore.location": str(keystore)}))
        create_topics(cls.cluster, TOPICS[:2])

    def client_file(self, password=PASSWORD, authority=None):
        path = self.directory / "client.properties"
        path.write_text(f"security.protocol=sasl_ssl\nssl.ca.location={authority or self.authority.certificate}\n"
                        f"sasl.mechanism=PLAIN\nsasl.username=duewheel\nsasl.password={password}\n")
        path.chmod(0o600)
        return path

    def check(self, client_file):
        """(exit status, output) of `duewheel kafka check`."""
        done = subprocess.run([BIN / "duewheel", "kafka", "check", "--bootstrap", self.cluster.sasl_bootstrap, "--client-file",
                               client_file, *TOPICS[:3]], capture_output=True, text=True, timeout=60)
        self.assert_no_secret(done.stdout + done.stderr)
        return done.returncode, done.stdout + done.stderr

    def assert_no_secret(self, text):
        self.assertNotIn("pa55word", text)

    def test_1_a_wrong_certificate_authority_is_named(self):
        status, output = self.check(self.client_file(authority=Authority(self.directory, "other").certificate))
        self.assertEqual(status, 3, output)
        self.assertIn("certificate verify failed", output)
        self.assertIn("(kafka_login)", output)
        status, output = self.check(self.client_file(authority="/missing.pem"))
        self.assertEqual(status, 2, output)
        self.assertIn("kafka.client_file", output)

    def test_2_the_server_goes_on_with_a_wrong_password_and_works_with_the_permissions_of_the_page(self):
        with Daemon(arguments=["--kafka-bootstrap", self.cluster.sasl_bootstrap, "--kafka-in-topics", "payments.later=payments",
                               "--kafka-client-file", self.client_file(password=WRONG)]) as daemon:
            daemon.start()
            self.assertEqual(daemon.client().request("PUT", "/v1/queues/q", {"target": {"kafka": {"topic": "payments"}}})[0], 200)
            deadline = time.monotonic() + 60
            while "code=kafka_login" not in daemon.log_text() and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertRegex(daemon.log_text(), "code=kafka_login .*Invalid username or password")
            queue = subprocess.check_output([BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}", "queue", "get", "q"],
                                            text=True)
            self.assertRegex(queue, "target +(backing off until|the server tests)")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())

            status, output = self.check(self.client_file())
            self.assertEqual(status, 1, output)
            self.assertIn("topic payments: topic payments: Broker: Topic authorization failed", output)
            self.assertIn("error: transactions: ", output)
            self.grant_what_the_page_says()
            status, output = self.check(self.client_file())
            self.assertEqual(status, 0, output)

            daemon.start()
            produce(self.cluster, "payments.later", [({"duewheel-delay": "1s"}, "k", "paid"), ({"duewheel-delay": "soon"}, "k", "bad")])
            with ConsoleConsumer(self.cluster, "payments") as consumer, \
                    ConsoleConsumer(self.cluster, "duewheel.errors") as errors:
                self.assertEqual([record.value for record in consumer.wait_for(1, 60)], ["paid"], daemon.log_text())
                self.assertEqual([record.value for record in errors.wait_for(1, 60)], ["bad"], daemon.log_text())
            self.assertEqual(daemon.terminate(), 0)
            self.assert_no_secret(daemon.log_text())

    def grant_what_the_page_says(self):
        """Runs the kafka-acls lines of the page's section on permissions."""
        section = PAGE.read_text().split("\n## Permissions")[1].split("\n## ")[0]
        script = "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL))
        self.assertIn("kafka-acls.sh", script)
        tool = f"{sys.executable} {TOOLS}/kafka_cluster.py --directory {self.cluster.directory} run kafka-acls"
        script = script.replace("kafka-acls.sh --bootstrap-server broker1:9092", tool)
        done = subprocess.run(["sh", "-eu", "-c", script], capture_output=True, text=True, timeout=120, env=dict(os.environ))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
