"""For the tests of webhooks: a daemon that may post to this machine, with two secrets, and receivers."""

import base64
import subprocess
import time
import unittest

from daemon import Daemon
from webhook_receiver import Receiver

LOOPBACK = "--webhooks-allowed-networks=127.0.0.0/8,::1"
NEW = "whsec_" + base64.b64encode(b"n" * 32).decode()
OLD = "whsec_" + base64.b64encode(b"o" * 24).decode()
NO_REST = {"attempts": 5, "first": "10ms", "factor": 1, "max": "10ms", "jitter": 0}


def wait_until(condition, within_s=120):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


def certificate(directory, name="127.0.0.1"):
    """(certificate, key), self-signed, as files."""
    paths = (f"{directory}/certificate.pem", f"{directory}/key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=test", "-addext", f"subjectAltName=IP:{name}", "-out", paths[0], "-keyout", paths[1]],
                   check=True, capture_output=True)
    return paths


class Webhooks(unittest.TestCase):
    def daemon(self, *arguments, **how):
        daemon = Daemon(arguments=[LOOPBACK, *arguments], **how)
        self.addCleanup(daemon.__exit__)
        for name, secret in (("new", NEW), ("old", OLD)):
            (daemon.directory / name).write_text(secret + "\n")
            (daemon.directory / name).chmod(0o600)
        return daemon

    def receiver(self, *arguments, **how):
        receiver = Receiver(*arguments, **how)
        self.addCleanup(receiver.__exit__)
        return receiver

    def set_target(self, client, queue, url, retry=None, **members):
        status, answer = client.request("PUT", f"/v1/queues/{queue}", {
            "target": {"webhook": {"url": url, **members}}, "retry": retry or NO_REST})
        self.assertEqual(status, 200, answer)
        return answer

    def state(self, client, message):
        return client.get(message)[1].get("state")
