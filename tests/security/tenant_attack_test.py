"""Attacks of a tenant: with a token of one namespace and queue prefix it tries to use what belongs to others, and to lift its own
limits."""

import json
import subprocess
import unittest

from attacks import main
from daemon import BIN, Daemon

SECRET = "whsec_" + "A" * 32
URL = "https://receiver.example/in"


class TenantAttack(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(arguments=["--auth-required"]))
        secret = self.daemon.directory / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        self.daemon.arguments += [f"--webhooks-secrets=billing={secret},letters={secret},common={secret}",
                                  "--webhooks-secret-queues=letters=shop/mail-,common=shop/,billing=team/"]
        self.daemon.data.mkdir()
        made = subprocess.run([BIN / "duewheel", "token", "add", "root", "--admin", "--data", self.daemon.data],
                              capture_output=True, text=True, timeout=60, check=True)
        self.root = made.stdout.strip()
        self.daemon.start()
        self.client = self.daemon.client()
        self.tenant = self.token("tenant", namespaces=["shop"])
        self.mailer = self.token("mailer", namespaces=["shop", "team"], queues="mail-")

    def token(self, name, **limits):
        status, answer = self.ask("PUT", f"/v1/tokens/{name}", {"scopes": ["admin", "read", "put"], **limits}, self.root)
        self.assertLess(status, 300, answer)
        return answer["token"]

    def ask(self, method, path, body=None, token=None):
        return self.client.request_text(method, path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {token}"})

    def set_secret(self, token, name_space, queue, secret, method="PUT"):
        return self.ask(method, f"/v1/namespaces/{name_space}/queues/{queue}",
                        {"target": {"webhook": {"url": URL, "secrets": [secret]}}}, token)

    # Names of secrets were names for all: the signature of another tenant over a body of one's choice was one request away.
    def test_a_secret_of_others_is_answered_like_one_that_does_not_exist(self):
        for token, name_space, queue, secret in ((self.tenant, "shop", "q", "billing"), (self.tenant, "shop", "q", "letters"),
                                                 (self.tenant, "shop", "Mail-1", "letters"), (self.mailer, "team", "mail-1", "letters"),
                                                 (self.mailer, "team", "mail-1", "common"), (self.mailer, "shop", "mail-1", "billing")):
            for method in ("PUT", "PATCH"):
                with self.subTest(f"{method} {name_space}/{queue} {secret}"):
                    status, unknown = self.set_secret(token, name_space, queue, "nothing", method)
                    refused, answer = self.set_secret(token, name_space, queue, secret, method)
                    self.assertEqual((status, unknown["code"]), (refused, answer["code"]))
                    self.assertEqual(unknown["code"], "bad_webhook_secret")
                    self.assertEqual(json.dumps(answer).replace(f'\\"{secret}\\"', '\\"nothing\\"'), json.dumps(unknown))
                    self.assertEqual(self.ask("GET", f"/v1/namespaces/{name_space}/queues/{queue}", None, self.root)[0], 404)

    def test_its_own_secrets_and_those_of_an_administrator_of_the_server_go_on(self):
        self.assertEqual(self.set_secret(self.tenant, "shop", "mail-1", "letters")[0], 200)
        self.assertEqual(self.set_secret(self.mailer, "shop", "mail-2", "common")[0], 200)
        self.assertEqual(self.set_secret(self.root, "shop", "bills", "billing")[0], 200)
        # The tenant can pause the queue, but not aim what is signed at itself.
        path = "/v1/namespaces/shop/queues/bills"
        self.assertEqual(self.ask("PATCH", path, {"paused": True}, self.tenant)[0], 200)
        status, answer = self.ask("PATCH", path, {"target": {"webhook": {"url": "https://tenant.example/"}}}, self.tenant)
        self.assertEqual((status, answer["code"]), (400, "bad_webhook_secret"))
        self.assertEqual(self.ask("GET", path, None, self.root)[1]["settings"]["target"]["webhook"]["url"], URL)

    def test_it_cannot_lift_its_own_limits(self):
        path = "/v1/namespaces/shop"
        self.assertEqual(self.ask("PUT", path, {"limits": {"pending": 5}}, self.root)[0], 200)
        for method, body in (("PUT", {"limits": {"pending": 5000}}), ("PATCH", {"limits": {"pending": None}}), ("PUT", {}),
                             ("PATCH", {"weight": 100}), ("DELETE", None)):
            for token in (self.tenant, self.mailer):
                status, answer = self.ask(method, path, body, token)
                self.assertEqual((status, answer["code"]), (403, "forbidden"), method)
        status, answer = self.ask("GET", path, None, self.tenant)
        self.assertEqual((status, answer["settings"]["limits"]["pending"]), (200, 5))
        self.assertEqual(self.ask("GET", path, None, self.mailer)[0], 403)


if __name__ == "__main__":
    main(tries=14)
