"""Client certificates that should get the rights of a token which names another one: names of another type, without a name, or of an issuer
that may not sign; and clients without TLS where it is required.
"""

import ssl
import tempfile
import unittest

from attacks import Target, main
from certificates import EC, Authority, openssl
from raw_sockets import connect, read_answer, request

HOST, URI, EMAIL = "worker.example", "spiffe://example.org/worker", "worker@example.org"


class Certificates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.authority = Authority(cls.enterClassContext(tempfile.TemporaryDirectory()))
        pair = cls.authority.issue("server")
        cls.target = target = cls.enterClassContext(Target("--tls-certificate", pair[0], "--tls-key", pair[1], "--tls-client-ca",
                                                           cls.authority.certificate))
        for name, certificate_name in (("dns", f"dns:{HOST}"), ("uri", f"uri:{URI}"), ("email", f"email:{EMAIL}")):
            assert cls.ask("PUT", f"/v1/tokens/{name}", {"scopes": ["read"], "certificate_names": [certificate_name]}, token=target.root) == 201

    @classmethod
    def ask(cls, method="GET", path="/v1/queues", value=None, own=None, token=None):
        """The status, or None where the server ends the connection."""
        context = cls.authority.client_context(own)
        with connect(cls.target.daemon) as plain:
            try:
                with context.wrap_socket(plain, server_hostname="localhost") as connection, connection.makefile("rb") as stream:
                    connection.sendall(request(method, path, value, Authorization=f"Bearer {token}" if token else None))
                    answer = read_answer(stream)
            except (ssl.SSLError, ConnectionError):
                return None
        return answer and answer[0]

    def test_those_that_are_named_have_their_rights(self):
        for name in (f"DNS:{HOST}", f"URI:{URI}", f"email:{EMAIL}"):
            self.assertEqual(self.ask(own=self.authority.issue("own", name)), 200, name)

    def test_names_that_are_nearly_those(self):
        for name in (f"URI:{HOST}", f"email:{HOST}", f"URI:dns:{HOST}", f"DNS:dns:{HOST}", f"DNS:{URI}", f"email:{URI}", f"DNS:{EMAIL}", f"URI:{EMAIL}",
                     f"URI:mailto:{EMAIL}", "DNS:*.example", "DNS:*", f"DNS:{HOST}.evil.example", f"DNS:evil-{HOST}", f"URI:{URI}/", f"URI:{URI}/../worker",
                     f"URI:{URI.upper()}", f"URI:{URI}%00", "IP:127.0.0.1", f"otherName:1.2.3.4;UTF8:{HOST}", "DNS:dns"):
            with self.subTest(name):
                self.assertEqual(self.ask(own=self.authority.issue("evil", name)), 401)

    def test_a_common_name_is_no_name(self):
        for name in (HOST, EMAIL):
            with self.subTest(name):
                self.assertEqual(self.ask(own=self.authority.issue(name, "DNS:other.example")), 401)

    def test_nobody_else_signs(self):
        directory = self.authority.directory
        with self.subTest("no certificate"):
            self.assertEqual(self.ask(), 401)
        with self.subTest("an authority of the same name"):
            with tempfile.TemporaryDirectory() as other:
                self.assertIsNone(self.ask(own=Authority(other, "ca").issue("evil", f"DNS:{HOST}")))
        with self.subTest("signed by itself"):
            pair = directory / "self.pem", directory / "self.key"
            openssl("req", "-x509", *EC, "-days", 9, "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", pair[1], "-out", pair[0])
            self.assertIsNone(self.ask(own=pair))
        with self.subTest("signed by another client"):
            worker = self.authority.issue("stranger", "DNS:stranger.example")
            real = self.authority.certificate, self.authority.key
            self.authority.certificate, self.authority.key = worker
            try:
                forged = self.authority.issue("forged", f"DNS:{HOST}")
            finally:
                self.authority.certificate, self.authority.key = real
            forged[0].write_text(forged[0].read_text() + worker[0].read_text())
            self.assertIsNone(self.ask(own=forged))
        with self.subTest("expired"):
            self.assertIsNone(self.ask(own=self.authority.issue("late", f"DNS:{HOST}", days=-1)))
        with self.subTest("a token of its own counts alone"):
            own = self.authority.issue("own", f"DNS:{HOST}")
            self.assertEqual(self.ask(own=own, token="dw_root_" + "A" * 43), 401)

    def test_no_tls_and_weak_tls(self):
        with self.subTest("plain HTTP"):
            answer = self.target.send(request("GET", "/v1/queues", Authorization=f"Bearer {self.target.root}"))
            self.assertIn(b'"code":"tls_required"', answer)
        # Old versions are in tests/integration/tls_test.py.
        for ciphers in ("AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-SHA384", "aNULL", "eNULL"):
            with self.subTest(ciphers):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                context.maximum_version = ssl.TLSVersion.TLSv1_2
                context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
                with connect(self.target.daemon) as plain, self.assertRaises((ssl.SSLError, ConnectionError)):
                    context.wrap_socket(plain)


if __name__ == "__main__":
    main(tries=35)
