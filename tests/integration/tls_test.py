"""TLS of the real server: negotiation, the certificates with which it starts, which it reloads and which it accepts,
and that requests, deadlines and shutdown are the same as without TLS."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from certificates import Authority, openssl
from daemon import BIN, Daemon
from wall import Wall

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITHIN_S = 60
DAY_S = 86400
MIB = 1 << 20


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="duewheel-test-")
        cls.directory = pathlib.Path(cls.temporary.name)
        cls.authority = Authority(cls.directory)
        cls.issued = cls.authority.issue("server")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        self.context = self.authority.client_context()
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="duewheel-test-"))
        self.pair = tuple(pathlib.Path(shutil.copy2(path, directory)) for path in self.issued)

    def arguments(self, pair=None, *more):
        certificate, key = pair or self.pair
        return ["--tls-certificate", certificate, "--tls-key", key, *more]

    def daemon(self, *more):
        daemon = self.enterContext(Daemon(arguments=self.arguments(None, *more)))
        daemon.start()
        return daemon

    def connect(self, daemon, context=None, session=None, handshake=True):
        raw = socket.create_connection(("127.0.0.1", daemon.port), timeout=WITHIN_S)
        self.addCleanup(raw.close)
        if not handshake:
            return raw
        # An end without close_notify raises.
        connection = (context or self.context).wrap_socket(raw, server_hostname="localhost", session=session,
                                                           suppress_ragged_eofs=False)
        self.addCleanup(connection.close)
        return connection

    def client(self, daemon, context=None):
        client = daemon.client()
        client.connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=WITHIN_S,
                                                        context=context or self.context)
        return client

    def wait_for(self, condition, what):
        end = time.monotonic() + WITHIN_S
        while not (value := condition()):
            if time.monotonic() > end:
                self.fail(f"not within {WITHIN_S} s: {what}")
            time.sleep(0.02)
        return value

    def wait_for_line(self, daemon, pattern, count=1):
        return self.wait_for(lambda: len(lines := re.findall(pattern, daemon.log_text())) >= count and lines, pattern)

    def serial_of(self, daemon):
        with contextlib.closing(self.connect(daemon)) as connection:
            return connection.getpeercert()["serialNumber"]

    def handshakes(self, client):
        _, page = client.request("GET", "/metrics")
        return {outcome: int(count) for outcome, count in
                re.findall(r'duewheel_tls_handshakes_total\{outcome="(\w+)"\} (\d+)', page)}


class Negotiation(Tls):
    # Each cipher of each version that this OpenSSL still knows, one by one: what sslscan does.
    def test_nothing_but_tls_1_2_and_1_3_with_ecdhe_and_aead_is_accepted(self):
        daemon = self.daemon()
        accepted = set()
        versions = {"TLSv1": ssl.TLSVersion.TLSv1, "TLSv1.1": ssl.TLSVersion.TLSv1_1, "TLSv1.2": ssl.TLSVersion.TLSv1_2}
        listed = subprocess.run(["openssl", "ciphers", "-v", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"], capture_output=True,
                                text=True, check=True).stdout.splitlines()
        names = {line.split()[0] for line in listed if line.split()[1] != "TLSv1.3"}
        self.assertGreater(len(names), 100)
        for version, number in versions.items():
            for name in sorted(names):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                with contextlib.suppress(ssl.SSLError):  # one that Python's module cannot set
                    context.set_ciphers(f"{name}:@SECLEVEL=0")
                    with self.ignore_deprecation():
                        context.minimum_version = context.maximum_version = number
                    with contextlib.closing(self.connect(daemon, context)) as connection:
                        accepted.add((connection.version(), connection.cipher()[0]))
        self.assertEqual(accepted, {("TLSv1.2", name) for name in (
            "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305")})
        connection = self.connect(daemon)
        self.assertEqual(connection.version(), "TLSv1.3")
        counts = self.handshakes(self.client(daemon))
        self.assertGreater(counts["old_version"], 50)
        self.assertGreater(counts["no_common_cipher"], 50)
        self.wait_for_line(daemon, r"tls_handshake_failed: .* outcome=old_version .*remote=127\.0\.0\.1 count=1\n")

    @staticmethod
    @contextlib.contextmanager
    def ignore_deprecation():
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield

    def test_an_rsa_certificate_works_too(self):
        key, request, certificate = (self.directory / f"rsa.{end}" for end in ("key", "csr", "pem"))
        extensions = self.directory / "rsa.ext"
        extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("req", "-newkey", "rsa:2048", "-noenc", "-subj", "/CN=server", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.authority.certificate, "-CAkey", self.authority.key,
                "-CAcreateserial", "-days", 90, "-extfile", extensions, "-out", certificate)
        with Daemon(arguments=self.arguments((certificate, key))) as daemon:
            daemon.start()
            self.assertEqual(self.client(daemon).put("q", "x")[0], 201)

    def test_sessions_are_resumed(self):
        daemon = self.daemon()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.subTest(version=version):
                context = self.authority.client_context()
                context.maximum_version = version
                first = self.connect(daemon, context)
                first.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"200 OK", first.recv(65536))
                second = self.connect(daemon, context, first.session)
                self.assertTrue(second.session_reused)
        self.assertEqual(self.handshakes(self.client(daemon))["resumed"], 2)

    def test_renegotiation_is_refused(self):
        daemon = self.daemon()
        run = subprocess.run(["openssl", "s_client", "-tls1_2", "-connect", f"127.0.0.1:{daemon.port}"], input="R\n",
                             capture_output=True, text=True, timeout=WITHIN_S)
        self.assertIn("no renegotiation", run.stderr)
        self.assertEqual(self.client(daemon).request("GET", "/healthz")[0], 200)

    def test_a_client_without_tls_is_told_and_so_is_the_operator(self):
        daemon = self.daemon()
        plain = daemon.client()
        status, problem = plain.put("q", "x")
        self.assertEqual((status, problem["code"]), (400, "tls_required"))
        self.assertIn("use https", problem["detail"])
        self.wait_for_line(daemon, r"tls_handshake_failed: .*https.* outcome=plain_http")
        self.assertEqual(self.client(daemon).request("GET", "/v1/queues/q")[0], 404)

    def test_a_client_with_tls_at_a_plain_server_is_told_and_so_is_the_operator(self):
        with Daemon() as daemon:
            daemon.start()
            with self.assertRaisesRegex(ssl.SSLError, "(?i)handshake.failure"):
                self.connect(daemon)
            self.wait_for_line(daemon, r"tls_handshake_failed: .* outcome=plain_listener")
            client = daemon.client()
            self.assertEqual(self.handshakes(client)["plain_listener"], 1)
            _, page = client.request("GET", "/metrics")
            self.assertNotIn("\nduewheel_tls_certificate_expiry_seconds ", page)
            self.assertRegex(page, r'duewheel_http_malformed_requests_total 0\n')

    def test_a_handshake_that_takes_too_long_is_ended_while_others_are_served(self):
        daemon = self.daemon()
        silent = self.connect(daemon, handshake=False)
        began = time.monotonic()
        slow = self.connect(daemon, handshake=False)
        slow.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        self.assertEqual(self.client(daemon).put("q", "x")[0], 201)
        self.assertEqual((slow.recv(100), silent.recv(100)), (b"", b""))
        took = time.monotonic() - began
        self.assertGreater(took, 4.9)
        self.assertLess(took, 20)
        self.assertEqual(self.handshakes(self.client(daemon))["timeout"], 2)


class Requests(Tls):
    def test_large_bodies_pipelined_requests_and_long_polls_work(self):
        daemon = self.daemon()
        client = self.client(daemon)
        body = "".join(chr(ord("a") + n % 26) for n in range(MIB - 100))
        self.assertEqual(client.put("large", body)[0], 201)
        self.assertEqual(client.lease("large")[0]["body"], body)

        connection = self.connect(daemon)
        put = json.dumps({"body": "x"}).encode()
        request = (b"POST /v1/queues/many/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   b"Content-Length: %d\r\n\r\n%s" % (len(put), put))
        connection.sendall(request * 500)
        received = b""
        while received.count(b"HTTP/1.1 201 Created") < 500:
            part = connection.recv(65536)
            self.assertTrue(part)
            received += part
        self.assertEqual(client.request("GET", "/v1/queues/many")[1]["pending"], 500)

        leased = []
        waiting = threading.Thread(target=lambda: leased.extend(self.client(daemon).lease("later", wait="30s")))
        waiting.start()
        self.wait_for(lambda: re.search(r"\nduewheel_consumers_waiting 1\n", client.request("GET", "/metrics")[1]),
                      "the consumer waits")
        client.put("later", "hello", delay="50ms")
        waiting.join(WITHIN_S)
        self.assertEqual([message["body"] for message in leased], ["hello"])

    def test_the_server_ends_each_connection_in_order(self):
        daemon = self.daemon()
        idle = self.connect(daemon)
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        idle.recv(65536)
        waiting = self.connect(daemon)
        body = b'{"wait": "30s"}'
        waiting.sendall(b"POST /v1/queues/q:lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        client = self.client(daemon)
        self.wait_for(lambda: re.search(r"\nduewheel_consumers_waiting 1\n", client.request("GET", "/metrics")[1]),
                      "the consumer waits")
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(idle.recv(100), b"", "an end without close_notify would raise")
        answer = b""
        while part := waiting.recv(65536):
            answer += part
        self.assertIn(b'{"messages":[]}', answer)
        for connection in (idle, waiting):
            connection.close()
        self.assertEqual(daemon.wait(), 0)


class ClientCertificates(Tls):
    def test_are_optional_and_verified(self):
        daemon = self.daemon("--tls-client-ca", self.authority.certificate)
        self.assertEqual(self.client(daemon).put("q", "x")[0], 201)
        own = self.authority.issue("worker", "URI:spiffe://example.org/worker,DNS:worker.example.org")
        self.assertEqual(self.client(daemon, self.authority.client_context(own)).put("q", "x")[0], 201)

        other = Authority(self.directory, "other")
        # With TLS 1.3 the client notices with its first read.
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.client(daemon, self.authority.client_context(other.issue("foreign"))).put("q", "x")
        self.wait_for_line(daemon, r"tls_handshake_failed: .* outcome=client_certificate reason=\"[\w ]*issuer[\w ]*\"")
        self.assertEqual(self.handshakes(self.client(daemon))["client_certificate"], 1)


    def test_give_the_rights_of_the_token_that_names_them(self):
        daemon = self.enterContext(Daemon(arguments=self.arguments(None, "--tls-client-ca", self.authority.certificate,
                                                                   "--auth-required")))
        daemon.data.mkdir()
        admin = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", daemon.data, "--admin"], check=True,
                               capture_output=True, text=True, timeout=WITHIN_S).stdout.strip()
        daemon.start()
        bearer = {"Authorization": f"Bearer {admin}"}
        nameless = self.client(daemon)
        self.assertEqual(nameless.request("GET", "/healthz")[0], 200)
        self.assertEqual(nameless.put("q", "x")[0], 401)
        put = json.dumps({"scopes": ["consume"], "certificate_names": ["spiffe://example.org/worker"]})
        self.assertEqual(nameless.request_text("PUT", "/v1/tokens/worker", put, bearer)[0], 201)

        for name, alternative_names, lease_status, put_status in (
                ("worker", "DNS:host.example,URI:spiffe://example.org/worker", 200, 403),
                ("stranger", "URI:spiffe://example.org/stranger", 401, 401),
                # A DNS name that is spelled like the URI had its rights.
                ("imitator", "DNS:spiffe://example.org/worker", 401, 401)):
            context = self.authority.client_context(self.authority.issue(name, alternative_names))
            first = self.connect(daemon, context)
            lease = b'POST /v1/queues/q:lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
            first.sendall(lease)
            self.assertIn(b" %d " % lease_status, first.recv(65536).split(b"\r\n")[0], name)
            again = self.connect(daemon, context, first.session)
            self.assertFalse(again.session_reused, "each connection shows its certificate")
            again.sendall(lease)
            self.assertIn(b" %d " % lease_status, again.recv(65536).split(b"\r\n")[0], name)
            self.assertEqual(self.client(daemon, context).put("q", "x")[0], put_status, name)


class Reload(Tls):
    def replace(self, authority=None, **how):
        """A new pair in the place of the old one."""
        fresh = (authority or self.authority).issue("fresh", **how)
        for path, place in zip(fresh, self.pair):
            os.replace(path, place)

    def test_sighup_reloads_while_connections_stay(self):
        daemon = self.daemon()
        before = self.serial_of(daemon)
        kept = self.client(daemon)
        self.assertEqual(kept.put("q", "x")[0], 201)
        self.replace()
        daemon.process.send_signal(signal.SIGHUP)
        self.wait_for_line(daemon, r" info tls_reloaded: .* expires=\S+Z")
        self.assertNotEqual(self.serial_of(daemon), before)
        socket_before = kept.connection.sock
        self.assertEqual(kept.put("q", "x")[0], 201)
        self.assertIs(kept.connection.sock, socket_before, "the connection was kept")

    def test_a_change_of_the_files_reloads(self):
        daemon = self.daemon()
        before = self.serial_of(daemon)
        self.replace()
        self.wait_for(lambda: self.serial_of(daemon) != before, "a new certificate")
        self.wait_for_line(daemon, r" info tls_reloaded: ")

    def test_files_that_cannot_be_used_change_nothing(self):
        daemon = self.daemon()
        before = self.serial_of(daemon)
        _, key = self.authority.issue("unrelated")
        os.replace(key, self.pair[1])
        daemon.process.send_signal(signal.SIGHUP)
        self.wait_for_line(daemon, r" warning tls_reload_failed: .*code=bad_tls_key error=\".* does not belong to the certificate")
        self.assertEqual(self.serial_of(daemon), before)
        self.pair[1].unlink()
        self.wait_for_line(daemon, r" warning tls_reload_failed: .* cannot be read: No such file")
        self.assertEqual(self.serial_of(daemon), before)
        self.replace()
        self.wait_for_line(daemon, r" info tls_reloaded: ")
        self.assertNotEqual(self.serial_of(daemon), before)

    def test_sighup_without_tls_does_nothing(self):
        with Daemon() as daemon:
            daemon.start()
            daemon.process.send_signal(signal.SIGHUP)
            self.wait_for_line(daemon, r" info nothing_to_reload: ")
            self.assertEqual(daemon.client().put("q", "x")[0], 201)

    def test_a_certificate_that_expires_soon_is_logged_and_measured(self):
        certificate, key = self.authority.issue("short", days=20)
        with Daemon(arguments=self.arguments((certificate, key))) as daemon:
            daemon.start()
            self.wait_for_line(daemon, r" warning tls_certificate_expires: .*in less than 30 days.* expires=\S+Z")
            _, page = self.client(daemon).request("GET", "/metrics")
            left = float(re.search(r"\nduewheel_tls_certificate_expiry_seconds (\S+)\n", page)[1])
            self.assertAlmostEqual(left, 20 * DAY_S, delta=600)


class Refused(Tls):
    def refusal(self, *arguments, listen="127.0.0.1:0", environment=None, code=2):
        """What the start says; --print-config says the same."""
        told = []
        for more in ((), ("--print-config",)):
            run = subprocess.run([BIN / "duewheeld", "--data", self.directory / "none", "--http", listen, *arguments, *more],
                                 capture_output=True, text=True, timeout=WITHIN_S, env={**os.environ, **(environment or {})})
            self.assertEqual(run.returncode, code, run.stderr)
            told.append(run.stderr)
        self.assertFalse((self.directory / "none").exists(), "nothing was made")
        return told[0] + told[1]

    def check(self, text, *parts):
        for part in parts:
            self.assertEqual(text.count(part), 2, f"{part!r} in {text}")

    def test_half_a_pair(self):
        certificate, key = self.pair
        self.check(self.refusal("--tls-certificate", certificate), "tls.certificate is set without tls.key")
        self.check(self.refusal("--tls-key", key), "tls.key is set without tls.certificate")
        self.check(self.refusal("--tls-client-ca", certificate), "tls.client_ca is set without tls.certificate and tls.key")

    def test_files_that_are_not_what_they_should_be(self):
        certificate, key = self.pair
        self.check(self.refusal(*self.arguments((self.directory / "no.pem", key))), "no.pem, the setting tls.certificate, cannot be read")
        self.check(self.refusal(*self.arguments((key, key))), "holds no certificate in PEM")
        self.check(self.refusal(*self.arguments((certificate, certificate))), "can be read or changed by other users; run chmod 600")
        certificate.chmod(0o600)
        self.check(self.refusal(*self.arguments((certificate, certificate))), "holds no private key in PEM")
        _, other = self.authority.issue("unrelated")
        self.check(self.refusal(*self.arguments((certificate, other))), "does not belong to the certificate")
        key.chmod(0o644)
        text = self.refusal(*self.arguments())
        self.check(text, "can be read or changed by other users; run chmod 600")
        self.assertIn("code=bad_tls_key place=--tls-key\n", text)
        self.assertIn("duewheeld: --tls-key: ", text)

    def test_a_certificate_outside_its_time(self):
        with Wall() as wall:
            for ahead, part in ((91 * DAY_S, "expired at 20"), (-2 * DAY_S, "is not valid before 20")):
                wall.set_ahead(ahead)
                self.check(self.refusal(*self.arguments(), environment=wall.environment), part)

    def test_an_address_beyond_loopback_without_tokens(self):
        text = self.refusal(*self.arguments(), "--auth-required=false", listen="0.0.0.0:0", code=2)
        self.check(text, "has no authentication: any client that reaches it has full access")
        daemon = self.daemon("--unsafe-plain-listen")
        self.assertRegex(daemon.log_text(), r" warning unsafe_listen: .*it has no authentication")

    def test_an_address_beyond_loopback_requires_tokens_unless_told_otherwise(self):
        """It was refused for lack of authentication, although docs/security.md said that tokens are required by default there: the
        default of the setting was taken for a `false` in the configuration."""
        daemon = self.enterContext(Daemon(arguments=self.arguments()))
        daemon.listen = "0.0.0.0:0"
        daemon.start()
        self.assertEqual(self.client(daemon).put("q", "x")[0], 401)


class Documentation(Tls):
    def test_the_lines_of_the_page_run_as_pasted(self):
        first, second = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "security.md").read_text(), re.DOTALL)[:2]
        with Daemon() as chosen:  # a free port
            chosen.start()
            port = chosen.port
        with tempfile.TemporaryDirectory(prefix="duewheel-test-") as directory:
            lines = first.replace("localhost:7420", f"localhost:{port}") + "echo; kill %1; wait\n" + second + \
                "openssl verify -CAfile ca.pem -purpose sslclient worker.pem\n"
            run = subprocess.run(["bash", "-e", "-c", lines], capture_output=True, text=True, timeout=WITHIN_S, cwd=directory,
                                 env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "DUEWHEEL_HTTP": f"127.0.0.1:{port}",
                                      "DUEWHEEL_STORE_SEGMENT_SIZE": "4MiB"})
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("worker.pem: OK", run.stdout)
            self.assertIn("ready http=", run.stdout)
            self.assertRegex(run.stdout, r"(?m)^ok$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
