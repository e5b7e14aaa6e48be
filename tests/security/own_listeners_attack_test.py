"""A webhook that posts to the server itself: to the listener for clients of beanstalkd, whose commands a message's body could
contain, and to that of HTTP, also where an operator allows loopback, and under every name of this machine.
"""

import re
import unittest

from attacks import main
from daemon import Daemon
from webhook_daemon import LOOPBACK

HOSTS = ("127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0")


class OwnListeners(unittest.TestCase):
    def test_no_queue_gets_a_webhook_to_a_listener_of_this_server(self):
        with Daemon(arguments=[LOOPBACK, "--beanstalk", "127.0.0.1:0"]) as daemon:
            daemon.start()
            client = daemon.client()
            beanstalk = int(re.search(r"beanstalk_ready.*address=127\.0\.0\.1:(\d+)", daemon.log_text())[1])
            for port in (beanstalk, daemon.port):
                for host in HOSTS:
                    with self.subTest(f"{host} {'beanstalkd' if port == beanstalk else 'HTTP'}"):
                        status, answer = client.request("PUT", "/v1/queues/q", {"target": {"webhook": {"url": f"http://{host}:{port}/"}}})
                        self.assertEqual((status, answer["code"]), (400, "forbidden_address"))
            status, answer = client.request("PUT", "/v1/queues/q", {"target": {"webhook": {"url": "http://127.0.0.1:9/"}}})
            self.assertEqual(status, 200, answer)


if __name__ == "__main__":
    main(tries=14)
