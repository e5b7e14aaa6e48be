"""What a page of another site can make a browser send, and names of DNS that lead to this machine, to a server without tokens, where nothing
else protects it; and the session of the dashboard: forged, fixed, used by other pages, or after its end.

The page itself, in Chromium, is page.test.mjs.
"""

import json
import unittest

from attacks import Target, main
from daemon import Daemon
from raw_sockets import connect, read_answer, request, rest_of

PUT = ("POST", "/v1/queues/q/messages", {"body": "evil"})


class ForeignPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon())
        cls.daemon.start()

    def answer(self, method, path, value=None, **fields):
        with connect(self.daemon) as connection:
            connection.sendall(request(method, path, value, Connection="close", **fields))
            return rest_of(connection)

    def assert_refused(self, answer, status, code):
        self.assertEqual((int(answer.split()[1]), json.loads(answer.split(b"\r\n\r\n", 1)[1])["code"]), (status, code))
        self.assertEqual(self.daemon.client().request("GET", "/v1/queues")[1]["queues"], [])

    def test_names_of_the_server(self):
        port = self.daemon.port
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "localhost:evil.com", "127.0.0.1.evil.example", "evil-localhost",
                     "localhost,evil.example", "127.0.0.1@evil.example", "[::1].evil.example", "[::1", "localhost:99999", "localhost:-1",
                     "localhost:", "local host", "127.0.0.1/evil", "localhost#", "xn--lcalhost-s2a", "①27.0.0.1", "%6cocalhost", "*", ""):
            with self.subTest(host):
                with connect(self.daemon) as connection:
                    connection.sendall(request(*PUT, Host="@", Connection="close").replace(b"Host: @", b"Host: " + host.encode()))
                    answer = rest_of(connection)
                self.assertIn(int(answer.split()[1]), (400, 403, 421), answer)
                self.assertEqual(self.daemon.client().request("GET", "/v1/queues")[1]["queues"], [])

    def test_origins(self):
        port = self.daemon.port
        for origin in ("null", "http://evil.example", f"http://evil.example:{port}", f"http://localhost:{port + 1}",
                       "http://localhost", f"http://localhost:{port}.evil.example", f"http://localhost:{port}@evil.example",
                       f"http://localhost:{port}/", f"http://localhost:{port} http://evil.example", f"http://user@localhost:{port}",
                       f"file://localhost:{port}", f"localhost:{port}", "", "http://"):
            with self.subTest(origin):
                self.assert_refused(self.answer(*PUT, Host=f"localhost:{port}", Origin=origin), 403, "foreign_origin")

    def test_sites(self):
        for site in ("cross-site", "same-site", "CROSS-SITE", "evil", "same-origin, cross-site"):
            with self.subTest(site):
                self.assert_refused(self.answer(*PUT, Sec_Fetch_Site=site), 403, "foreign_origin")
        for path in ("/v1/queues", "/metrics", "/v1/events", "/openapi.json"):
            for mode in ("no-cors", "cors", "navigate"):
                with self.subTest(f"read {path} {mode}"):
                    self.assert_refused(self.answer("GET", path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode=mode), 403, "foreign_origin")

    def test_requests_that_need_no_preflight(self):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            with self.subTest(kind):
                self.assert_refused(self.answer(*PUT, Origin="http://evil.example", Content_Type=kind), 403, "foreign_origin")
        for field in ("X_HTTP_Method_Override", "X_Method_Override"):
            with self.subTest(field):
                self.answer("GET", "/v1/queues/q", **{field: "PUT"})
                self.assertEqual(self.daemon.client().request("GET", "/v1/queues/q")[0], 404)

    def test_a_preflight_allows_nothing(self):
        answer = self.answer("OPTIONS", PUT[1], Origin="http://evil.example", Access_Control_Request_Method="POST").lower()
        self.assertNotIn(b"access-control-allow", answer)

    def test_fields_that_keep_pages_and_caches_away(self):
        for path in ("/v1/queues", "/v1/nothing", "/metrics", "/healthz"):
            with self.subTest(path):
                head = self.answer("GET", path).split(b"\r\n\r\n")[0]
                for field in (b"X-Content-Type-Options: nosniff", b"Cross-Origin-Resource-Policy: same-origin", b"Cache-Control: no-store"):
                    self.assertIn(field, head)
        with self.subTest("frames and scripts of others"):
            head = self.answer("GET", "/").split(b"\r\n\r\n")[0]
            self.assertIn(b"frame-ancestors 'none'", head)
            self.assertIn(b"default-src 'none'", head)
            self.assertNotIn(b"unsafe-inline", head)


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = cls.enterClassContext(Target())

    def begin(self, token, **fields):
        """The cookie of a new session, and the head of the answer."""
        with connect(self.target.daemon) as connection:
            connection.sendall(request("POST", "/v1/session", {"token": token}, Connection="close", **fields))
            head = rest_of(connection).decode()
        return next((line.split(": ")[1].split(";")[0] for line in head.splitlines() if line.startswith("Set-Cookie: ")), None), head

    def status(self, cookie, method="GET", path="/v1/queues", value=None, **fields):
        with connect(self.target.daemon) as connection, connection.makefile("rb") as stream:
            connection.sendall(request(method, path, value, Cookie=cookie, **fields))
            return read_answer(stream)[0]

    def test_a_cookie_that_a_page_uses(self):
        cookie, head = self.begin(self.target.root)
        self.assertNotIn(self.target.root, head)
        self.assertRegex(head, "Set-Cookie: .*HttpOnly")
        self.assertRegex(head, "Set-Cookie: .*SameSite=Strict")
        self.assertEqual(self.status(cookie), 200)
        port = self.target.daemon.port
        for what, fields in {"no origin": {}, "another origin": {"Origin": "http://evil.example"}, "null": {"Origin": "null"},
                             "another port": {"Origin": f"http://localhost:{port + 1}"}, "the same site": {"Sec_Fetch_Site": "same-site"},
                             "typed": {"Sec_Fetch_Site": "none"}, "another site": {"Sec_Fetch_Site": "cross-site"}}.items():
            with self.subTest(what):
                self.assertEqual(self.status(cookie, *PUT, **fields), 403)
        self.assertEqual(self.target.ask("GET", "/v1/queues")[1]["queues"], [])

    def test_cookies_that_were_never_given(self):
        cookie, _ = self.begin(self.target.root)
        name, secret = cookie.split("=")
        for what, forged in {"token": f"{name}={self.target.root}", "chosen": f"{name}=" + "A" * len(secret), "empty": f"{name}=",
                             "shorter": f"{name}={secret[:-1]}", "longer": f"{name}={secret}A", "other case": f"{name}={secret.swapcase()}",
                             "quoted": f'{name}="{secret}"', "another name": f"{name}x={secret}", "long": f"{name}=" + "A" * 6000,
                             "first of two": f"{name}=" + "A" * len(secret) + f"; {name}={secret}"}.items():
            with self.subTest(what):
                self.assertEqual(self.status(forged), 401)

    # Fixation: a page that can set cookies chooses one, and waits for a login with it.
    def test_a_login_keeps_no_cookie_of_before(self):
        chosen = "duewheel_session=" + "A" * 43
        cookie, _ = self.begin(self.target.root, Cookie=chosen)
        self.assertNotEqual(cookie, chosen)
        self.assertEqual(self.status(chosen), 401)

    def test_a_login_of_another_page(self):
        for fields in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
            with self.subTest(fields):
                cookie, head = self.begin(self.target.root, **fields)
                self.assertIsNone(cookie, head)

    def test_after_its_end(self):
        def log_out(cookie, name):
            self.status(cookie, "DELETE", "/v1/session", Sec_Fetch_Site="same-origin")

        def remove(cookie, name):
            self.target.ask("DELETE", f"/v1/tokens/{name}")

        def rotate(cookie, name):
            self.target.ask("POST", f"/v1/tokens/{name}:rotate", {})

        def restart(cookie, name):
            self.target.daemon.terminate()
            self.target.daemon.start()

        for number, end in enumerate((log_out, remove, rotate, restart)):
            with self.subTest(end.__name__):
                cookie, _ = self.begin(self.target.token(f"t{number}", "read"))
                self.assertEqual(self.status(cookie), 200)
                end(cookie, f"t{number}")
                self.assertEqual(self.status(cookie), 401)


if __name__ == "__main__":
    main(tries=87)
