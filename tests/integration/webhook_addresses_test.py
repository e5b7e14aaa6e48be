"""Where webhooks of the real daemon post, and where they never do: addresses, names that flip, proxies, certificates."""

import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

from contract import with_packages
from daemon import BIN
from webhook_daemon import NO_REST, Webhooks, certificate, wait_until


class Where(Webhooks):
    def forbidden(self, port):
        hosts = ["127.0.0.1", "localhost", "LOCALHOST", "a.localhost", "127.1.2.3", "[::1]", "[::]", "0.0.0.0", "[::ffff:127.0.0.1]",
                 "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.0.0.1", "172.16.0.1", "192.168.0.1",
                 "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fc00::1]", "224.0.0.1", "255.255.255.255", "192.0.2.1"]
        return [f"{scheme}://{host}:{port}/" for scheme in ("http", "https") for host in hosts]

    def no_urls(self, port):
        hosts = ["127.1", "0177.0.0.1", "0x7f000001", "2130706433", "127.0.0.1.", "127.0.0.1%00", "user@127.0.0.1",
                 "example.org@127.0.0.1", "127.0.0.1\\@example.org", "[::1%25lo]", "1", "０.0.0.0", "⑫7.0.0.1", "127。0。0。1", " 127.0.0.1"]
        schemes = ["file:///etc/passwd", "gopher://127.0.0.1/", "dict://127.0.0.1/", "ftp://127.0.0.1/", "//127.0.0.1/",
                   "http:/127.0.0.1/", "http:127.0.0.1", "javascript:1", "unix:///tmp/x"]
        return schemes + [f"http://{host}:{port}/" for host in hosts]

    def test_a_queue_is_given_no_target_that_may_not_be_reached_and_none_is_touched(self):
        canary = self.receiver()
        daemon = self.daemon()
        daemon.arguments = []
        daemon.start()
        client = daemon.client()
        for code, urls in (("forbidden_address", self.forbidden(canary.port)), ("bad_webhook_url", self.no_urls(canary.port))):
            for url in urls:
                status, problem = client.request("PUT", "/v1/queues/q", {"target": {"webhook": {"url": url}}})
                self.assertEqual((status, problem["code"], problem["field"]), (400, code, "target.webhook.url"), url)
        self.assertEqual(client.request("GET", "/v1/queues/q")[0], 404, "nothing is left behind")
        self.assertEqual(canary.connections, 0)

    def test_what_was_allowed_once_is_not_reached_when_it_is_no_more(self):
        canary = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        urls = [f"http://127.0.0.1:{canary.port}/", f"http://localhost:{canary.port}/"]
        for number, url in enumerate(urls):
            self.set_target(client, f"q{number}", url, retry={**NO_REST, "attempts": 2})
        daemon.terminate()
        daemon.arguments = []
        daemon.start()
        client = daemon.client()
        messages = [client.put(f"q{number}", "x")[1]["id"] for number in range(len(urls))]
        for message in messages:
            wait_until(lambda: self.state(client, message) == "dead")
            self.assertIn("an address of this machine", str(client.get(message)[1]))
        self.assertEqual(canary.connections, 0)

    def test_a_name_that_flips_is_judged_by_the_address_that_is_connected_to(self):
        receiver = self.receiver(address="127.0.0.2")
        canary = socket.create_server(("127.0.0.3", receiver.port))
        canary.setblocking(False)
        self.addCleanup(canary.close)
        daemon = self.daemon(environment={"LD_PRELOAD": os.environ["DUEWHEEL_RESOLVER"]})
        daemon.arguments = ["--webhooks-allowed-networks=127.0.0.2/32"]
        names = daemon.directory / "names"
        daemon.environment["DUEWHEEL_NAMES"] = str(names)
        names.write_text("flips.test 127.0.0.2\nboth.test 127.0.0.3 127.0.0.2\n")
        daemon.start()
        client = daemon.client()
        for name in ("flips", "both"):
            self.set_target(client, name, f"http://{name}.test:{receiver.port}/", retry={**NO_REST, "attempts": 2})
            client.put(name, name)
        self.assertEqual({post.body for post in receiver.wait_for(2)}, {b"flips", b"both"}, "where one address is allowed, that")
        daemon.terminate()
        names.write_text("flips.test 127.0.0.3\n")
        daemon.start()
        client = daemon.client()
        message = client.put("flips", "x")[1]["id"]
        wait_until(lambda: self.state(client, message) == "dead")
        self.assertIn("127.0.0.3 is", str(client.get(message)[1]))
        self.assertEqual(len(receiver.posts), 2)
        with self.assertRaises(BlockingIOError):
            canary.accept()

    def test_the_server_does_not_post_to_itself(self):
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        for host in ("127.0.0.1", "localhost", "127.0.0.2"):
            status, problem = client.request("PUT", "/v1/queues/q", {
                "target": {"webhook": {"url": f"http://{host}:{daemon.port}/v1/queues/q/messages"}}})
            self.assertEqual((status, problem["code"]), (400, "forbidden_address"))

    def test_proxies_of_the_environment_are_not_used(self):
        canary = self.receiver()
        receiver = self.receiver()
        names = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        daemon = self.daemon(environment={name: canary.url("") for name in names})
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        client.put("q", "x")
        receiver.wait_for(1)
        self.assertEqual(canary.connections, 0)

    # A file without a certificate was taken, and each https post then failed.
    def test_a_file_that_holds_no_certificate_stops_the_start(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "trusted.pem"
            for text in (None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n"):
                if text is not None:
                    file.write_text(text)
                run = subprocess.run([BIN / "duewheeld", "--data", directory + "/data", "--http", "127.0.0.1:0",
                                      f"--webhooks-trusted-file={file}"], capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn("cannot read PEM certificates from", run.stderr)
                self.assertIn("--webhooks-trusted-file", run.stderr)

    def test_a_certificate_counts_only_where_it_is_trusted_and_for_who_it_says(self):
        with tempfile.TemporaryDirectory() as trusted, tempfile.TemporaryDirectory() as other:
            mine, key = certificate(trusted)
            theirs, their_key = certificate(other, "127.0.0.9")
            receiver = self.receiver(certificate=mine, key=key)
            named_otherwise = self.receiver(certificate=theirs, key=their_key)
            both = pathlib.Path(trusted) / "both.pem"
            both.write_text(pathlib.Path(mine).read_text() + pathlib.Path(theirs).read_text())
            for arguments, url, outcome in (([], receiver.url(), "dead"),
                                            ([f"--webhooks-trusted-file={mine}"], receiver.url(), "done"),
                                            ([f"--webhooks-trusted-file={both}"], named_otherwise.url(), "dead")):
                daemon = self.daemon(*arguments)
                daemon.start()
                client = daemon.client()
                self.set_target(client, "q", url, retry={**NO_REST, "attempts": 1})
                message = client.put("q", "x")[1]["id"]
                wait_until(lambda: self.state(client, message) == outcome)
                if outcome == "dead":
                    self.assertIn("untrusted", str(client.get(message)[1]))
                daemon.kill()
            self.assertEqual((len(receiver.posts), len(named_otherwise.posts)), (1, 0))


if __name__ == "__main__":
    with_packages()
    unittest.main(verbosity=2)
