"""Access tokens with the real daemon: the first one, created offline; what each token may do and see; rotation, expiry,
rates; and that tokens survive kill -9, compaction, backup and restore. A search of all files that the test leaves finds
no secret."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

from daemon import BIN, Daemon
from raw_sockets import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
CREDENTIALS = re.compile(r"dw_[a-z0-9-]+_[A-Za-z0-9_-]{43}")


def duewheel(*words, token=None, port=None, check=True):
    """The command line; its standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DUEWHEEL_TOKEN")}
    if token:
        environment["DUEWHEEL_TOKEN"] = token
    server = ["--server", f"http://127.0.0.1:{port}"] if port else []
    done = subprocess.run([BIN / "duewheel", *server, *words], env=environment, capture_output=True, text=True, timeout=60)
    if check and done.returncode != 0:
        raise AssertionError(f"duewheel {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip() if check else done


class Caller:
    """A connection that sends a token with each request."""

    def __init__(self, port, token=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token = token
        self.headers = {}

    def request(self, method, path, value=None, text=None, kind="application/json"):
        headers = {"Content-Type": kind}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        self.connection.request(method, path, json.dumps(value) if value is not None else text, headers)
        answer = self.connection.getresponse()
        body = answer.read().decode()
        self.headers = dict(answer.getheaders())
        is_json = "json" in answer.getheader("Content-Type", "") and "ndjson" not in answer.getheader("Content-Type", "")
        return answer.status, json.loads(body) if is_json else body

    def put(self, queue, **members):
        return self.request("POST", f"/v1/queues/{queue}/messages", {"body": "x", **members})


class Access(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(arguments=["--auth-required", "--store-segment-size=1MiB"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.data.mkdir()
        self.secrets = []
        self.admin_token = self.note(duewheel("token", "add", "admin", "--data", str(self.daemon.data), "--admin"))
        self.daemon.start()
        self.admin = Caller(self.daemon.port, self.admin_token)

    def tearDown(self):
        """Whatever is left on the disk holds no secret."""
        self.daemon.kill()
        self.assertGreater(len(self.secrets), 0)
        for path in self.daemon.directory.rglob("*"):
            if not path.is_file():
                continue
            content = path.read_bytes()
            for secret in self.secrets:
                self.assertNotIn(secret.encode(), content, path)

    def note(self, token):
        self.assertRegex(token, CREDENTIALS)
        self.secrets.append(token.split("_", 2)[2])
        return token

    def make(self, name, *scopes, **members):
        status, answer = self.admin.request("PUT", f"/v1/tokens/{name}", {"scopes": list(scopes), **members})
        self.assertEqual(status, 201, answer)
        return Caller(self.daemon.port, self.note(answer["token"]))

    def refused(self, answer, status, code):
        self.assertEqual((answer[0], answer[1]["code"]), (status, code), answer)
        return answer[1]

    def test_without_a_token_only_open_pages_are_served(self):
        stranger = Caller(self.daemon.port)
        self.assertEqual(stranger.request("GET", "/healthz"), (200, "ok\n"))
        self.assertEqual(stranger.request("GET", "/")[0], 200)
        for path in ("/readyz", "/metrics", "/openapi.json", "/v1/stats", "/v1/clock", "/v1/queues", "/v1/nothing", "/index.html"):
            self.refused(stranger.request("GET", path), 401, "token_required")
            self.assertEqual(stranger.headers["WWW-Authenticate"], "Bearer")
        self.refused(stranger.put("q"), 401, "token_required")
        wrong = [self.admin_token[:-1] + ("A" if self.admin_token[-1] != "A" else "B"), self.admin_token.replace("admin", "nobody"),
                 "nonsense", self.admin_token + "x"]
        answers = set()
        for token in wrong:
            caller = Caller(self.daemon.port, token)
            answers.add(json.dumps(self.refused(caller.put("q"), 401, "bad_token")))
        self.assertEqual(len(answers), 1, "all of them are answered alike")
        status, page = self.admin.request("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertIn('duewheel_auth_refusals_total{reason="token_required"} 9', page)
        self.assertIn('duewheel_auth_refusals_total{reason="bad_token"} 4', page)

    def test_an_address_with_many_failed_tokens_has_to_wait_and_valid_ones_pass(self):
        wrong = Caller(self.daemon.port, self.admin_token.replace("admin", "nobody"))
        codes = {}
        while "too_many_failed_tokens" not in codes:
            status, answer = wrong.put("q")
            codes[answer["code"]] = codes.get(answer["code"], 0) + 1
            self.assertIn((status, answer["code"]), ((401, "bad_token"), (429, "too_many_failed_tokens")))
            self.assertLess(codes["bad_token"], 1000)
        self.assertGreaterEqual(codes["bad_token"], 20)
        self.assertEqual(wrong.headers["Retry-After"], "1")
        self.assertEqual(self.admin.put("q")[0], 201, "of the same address")
        self.refused(Caller(self.daemon.port).put("q"), 401, "token_required")
        page = self.admin.request("GET", "/metrics")[1]
        self.assertIn('duewheel_auth_refusals_total{reason="too_many_failed_tokens"} 1', page)
        self.daemon.terminate()
        audit = [json.loads(line) for line in (self.daemon.data / "audit/audit-000001.jsonl").read_text().splitlines()]
        counted = sum(line.get("suppressed", 0) + ("call" in line) for line in audit)
        self.assertEqual(counted, sum(codes.values()) + 1, "each refusal is in the audit log, with a line or by its number")

    def test_what_is_outside_of_a_token_is_not_there(self):
        orders = self.make("orders", "put", "read", "consume", "cancel", "schedule", queues="orders-")
        shop = self.make("shop", "put", "read", "consume", "cancel", namespaces=["shop"])
        own = orders.put("orders-eu", delay="1h")[1]["id"]
        foreign = self.admin.put("mail", delay="1h")[1]["id"]
        self.refused(orders.put("mail"), 403, "forbidden")
        self.refused(shop.put("orders-eu"), 403, "forbidden")
        self.assertEqual(shop.request("POST", "/v1/namespaces/shop/queues/q/messages", {"body": "x"})[0], 201)
        never = self.refused(orders.request("GET", "/v1/messages/9007199254740991"), 404, "unknown_id")
        for method, rest in (("GET", ""), ("DELETE", ""), ("POST", ":fire"), ("POST", ":hold"), ("POST", ":kick"), ("POST", ":commit")):
            problem = self.refused(orders.request(method, f"/v1/messages/{foreign}{rest}"), 404, "unknown_id")
            self.assertEqual(problem["detail"].replace(foreign, "N"), never["detail"].replace("9007199254740991", "N"))
        self.assertEqual(orders.request("GET", f"/v1/messages/{own}")[0], 200)
        self.refused(orders.request("GET", f"/v1/messages?queue=mail&key=k"), 403, "forbidden")
        self.refused(orders.request("GET", "/v1/history?queue=mail"), 403, "forbidden")
        self.refused(orders.request("GET", "/v1/forecast"), 403, "forbidden")
        self.assertEqual(orders.request("GET", "/v1/forecast?queue=orders-eu")[0], 200)
        self.refused(orders.put("orders-eu", transaction={"check_back": {"queue": "mail", "after": "1h", "times": 1}}), 403, "forbidden")
        self.refused(orders.request("PUT", "/v1/schedules/s", {"queue": "mail", "every": "1h"}), 403, "forbidden")
        self.refused(orders.request("PUT", "/v1/watchdogs/w", {"queue": "mail", "timeout": "1h"}), 403, "forbidden")
        for kind, members in (("schedules", {"every": "1h"}), ("watchdogs", {"timeout": "1h"})):
            self.assertEqual(self.admin.request("PUT", f"/v1/{kind}/mails", {"queue": "mail", **members})[0], 201)
            self.assertEqual(orders.request("PUT", f"/v1/{kind}/own", {"queue": "orders-eu", **members})[0], 201)
            self.assertEqual([each[kind[:-1]] for each in orders.request("GET", f"/v1/{kind}")[1][kind]], ["own"])
            self.refused(orders.request("GET", f"/v1/{kind}/mails"), 404, f"unknown_{kind[:-1]}")
            self.refused(orders.request("PATCH", f"/v1/{kind}/own", {"queue": "mail"}), 403, "forbidden")
        self.assertEqual([each["queue"] for each in orders.request("GET", "/v1/queues")[1]["queues"]], ["orders-eu"])
        self.assertEqual([each["namespace"] for each in shop.request("GET", "/v1/namespaces")[1]["namespaces"]], ["shop"])
        self.refused(shop.request("GET", "/v1/stats"), 403, "forbidden")
        # Leases, one by one and in a batch.
        self.assertEqual(self.admin.put("mail")[0], 201)
        lease = self.admin.request("POST", "/v1/queues/mail:lease", {"wait": "20s"})[1]["messages"][0]["lease"]
        self.refused(orders.request("POST", f"/v1/leases/{lease}:ack"), 409, "lease_ended")
        self.refused(shop.request("POST", f"/v1/namespaces/shop/leases/{lease}:ack"), 409, "lease_ended")
        results = orders.request("POST", "/v1/leases:ack", {"leases": [lease]})[1]["results"]
        self.assertEqual(results[0]["code"], "lease_ended")
        self.assertEqual(self.admin.request("POST", f"/v1/leases/{lease}:ack")[1]["outcome"], "done")

    def test_a_rotation_keeps_the_old_secret_as_long_as_is_said(self):
        old = self.make("a", "put")
        status, answer = self.admin.request("POST", "/v1/tokens/a:rotate", {"keep_old": "1h"})
        self.assertEqual(status, 200, answer)
        new = Caller(self.daemon.port, self.note(answer["token"]))
        self.assertEqual((old.put("q")[0], new.put("q")[0]), (201, 201))
        newest = Caller(self.daemon.port, self.note(self.admin.request("POST", "/v1/tokens/a:rotate", {})[1]["token"]))
        self.refused(old.put("q"), 401, "bad_token")
        self.refused(new.put("q"), 401, "bad_token")
        self.assertEqual(newest.put("q")[0], 201)
        self.assertIn("last_used", self.admin.request("GET", "/v1/tokens/a")[1])
        self.assertEqual(self.admin.request("DELETE", "/v1/tokens/a"), (200, {"id": "a", "removed": True}))
        self.refused(newest.put("q"), 401, "bad_token")

    def test_a_request_that_waits_for_the_end_of_a_message_sees_nothing_without_its_token(self):
        answers = {}

        def wait(name, caller, number):
            answers[name] = caller.request("GET", f"/v1/messages/{number}?wait=50s")

        number = self.admin.put("mail")[1]["id"]
        readers = {"removed": self.make("removed", "read"), "narrowed": self.make("narrowed", "read"),
                   "brief": self.make("brief", "read", expires_in="5s"), "kept": self.make("kept", "read")}
        waiting = [threading.Thread(target=wait, args=(name, caller, number)) for name, caller in readers.items()]
        for thread in waiting:
            thread.start()
        wait_until(lambda: "duewheel_message_waits 4\n" in self.admin.request("GET", "/metrics")[1], "all of them wait")
        self.assertEqual(self.admin.request("DELETE", "/v1/tokens/removed")[0], 200)
        self.assertEqual(self.admin.request("PATCH", "/v1/tokens/narrowed", {"queues": "orders-"})[0], 200)
        wait_until(lambda: set(answers) == {"removed", "narrowed", "brief"}, "they are refused before the message ends")
        lease = self.admin.request("POST", "/v1/queues/mail:lease", {"wait": "20s"})[1]["messages"][0]["lease"]
        self.assertEqual(self.admin.request("POST", f"/v1/leases/{lease}:ack", {"result": "secret"})[0], 200)
        for thread in waiting:
            thread.join(30)
        self.refused(answers["removed"], 401, "bad_token")
        self.refused(answers["narrowed"], 401, "bad_token")
        self.refused(answers["brief"], 401, "token_expired")
        self.assertNotIn("secret", json.dumps([answers[name] for name in ("removed", "narrowed", "brief")]))
        self.assertEqual((answers["kept"][0], answers["kept"][1]["result"]), (200, "secret"))

    def test_expiry_rates_and_the_last_administrator(self):
        brief = self.make("brief", "put", expires_in="1s")
        status = 201
        while status == 201:
            status, answer = brief.put("q")
        self.refused((status, answer), 401, "token_expired")
        slow = self.make("slow", "put", limits={"requests_per_second": 1})
        self.assertEqual(slow.put("q")[0], 201)
        self.refused(slow.put("q"), 429, "too_many_requests")
        self.assertEqual(slow.headers["Retry-After"], "1")
        self.refused(self.admin.request("DELETE", "/v1/tokens/admin"), 409, "last_admin")
        self.refused(self.admin.request("PATCH", "/v1/tokens/admin", {"scopes": ["read"]}), 409, "last_admin")
        self.refused(self.admin.request("PATCH", "/v1/tokens/admin", {"queues": "a"}), 409, "last_admin")
        self.refused(self.admin.request("PATCH", "/v1/tokens/admin", {"expires_in": "1d"}), 409, "last_admin")
        self.make("brief-admin", "admin", expires_in="1h")
        self.refused(self.admin.request("DELETE", "/v1/tokens/admin"), 409, "last_admin")
        self.make("second", "admin")
        self.assertEqual(self.admin.request("DELETE", "/v1/tokens/admin")[0], 200)

    def test_tokens_survive_a_crash_cleaning_a_backup_and_a_restore_but_no_export(self):
        kept = self.make("kept", "put", queues="orders-", certificate_names=["kept.example"])
        gone = self.make("gone", "put")
        self.assertEqual(self.admin.request("DELETE", "/v1/tokens/gone")[0], 200)
        before = self.admin.request("GET", "/v1/tokens")[1]["tokens"]
        for _ in range(100):  # several segments, so that those of the tokens are sealed and cleaned
            self.assertEqual(self.admin.request("POST", "/v1/queues/other/messages", {"body": "x" * 60_000})[0], 201)
            lease = self.admin.request("POST", "/v1/queues/other:lease", {"wait": "20s"})[1]["messages"][0]["lease"]
            self.assertEqual(self.admin.request("POST", f"/v1/leases/{lease}:ack")[0], 200)
        self.daemon.kill()
        duewheel("check", str(self.daemon.data))
        self.daemon.start()
        self.admin = Caller(self.daemon.port, self.admin_token)

        def without_use(tokens):
            return [{name: value for name, value in token.items() if not name.startswith("last_used")} for token in tokens]

        self.assertEqual(without_use(self.admin.request("GET", "/v1/tokens")[1]["tokens"]), without_use(before))
        for caller, status in ((kept, 201), (gone, 401)):
            self.assertEqual(Caller(self.daemon.port, caller.token).put("orders-eu")[0], status)
        backup, restored = self.daemon.directory / "backup", self.daemon.directory / "restored"
        duewheel("backup", str(self.daemon.data), str(backup))
        self.daemon.terminate()
        duewheel("export", str(self.daemon.data), str(self.daemon.directory / "export.jsonl"))
        self.assertNotIn("kept.example", (self.daemon.directory / "export.jsonl").read_text())
        duewheel("restore", str(backup), str(restored))
        duewheel("check", str(restored))
        with Daemon(arguments=["--auth-required"]) as other:
            restored.rename(other.data)
            other.start()
            self.assertEqual(Caller(other.port, kept.token).put("orders-eu")[0], 201)

    def test_offline_a_token_is_added_while_no_server_runs_alone(self):
        refused = duewheel("token", "add", "second", "--data", str(self.daemon.data), "--admin", check=False)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("use", refused.stderr)
        self.daemon.terminate()
        again = duewheel("token", "add", "admin", "--data", str(self.daemon.data), "--admin", check=False)
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        second = self.note(duewheel("token", "add", "second", "--data", str(self.daemon.data), "--admin", "--expires", "1d"))
        duewheel("check", str(self.daemon.data))
        self.daemon.start()
        self.assertEqual(Caller(self.daemon.port, second).request("GET", "/v1/tokens/second")[0], 200)
        self.assertEqual(Caller(self.daemon.port, second).put("q")[0], 201)

    # `duewheel check` opened the index as root, and the server's user could not open the files that this made.
    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_commands_of_root_leave_no_file_of_root(self):
        self.assertEqual(self.admin.put("q")[0], 201)
        self.daemon.terminate()
        user = 65534
        for path in (self.daemon.data, *self.daemon.data.rglob("*")):
            os.chown(path, user, user)
        for command in (["check", self.daemon.data], ["token", "add", "second", "--data", self.daemon.data, "--admin"]):
            made = duewheel(*map(str, command))
            if made.startswith("dw_"):
                self.note(made)
            self.assertEqual({path.stat().st_uid for path in self.daemon.data.rglob("*")}, {user}, command)

    def test_the_command_line_makes_lists_rotates_and_removes(self):
        port, token = self.daemon.port, self.admin_token
        made = self.note(duewheel("token", "add", "billing", "--scope", "put", "--scope", "read", "--namespace", "default", "--queues",
                                  "orders-", "--expires", "90d", "--description", "for orders", token=token, port=port))
        duewheel("put", "orders-eu", "hello", token=made, port=port)
        self.assertEqual(duewheel("put", "mail", "hello", token=made, port=port, check=False).returncode, 1)
        self.assertEqual(duewheel("token", "add", "billing", "--scope", "put", token=token, port=port, check=False).returncode, 1)
        listed = duewheel("token", "list", token=token, port=port)
        self.assertIn("put,read", listed)
        self.assertIn("orders-*", listed)
        self.assertNotRegex(listed, CREDENTIALS)
        new = self.note(duewheel("token", "rotate", "billing", token=token, port=port))
        self.assertEqual(duewheel("put", "orders-eu", "hello", token=made, port=port, check=False).returncode, 1)
        duewheel("put", "orders-eu", "hello", token=new, port=port)
        duewheel("token", "rm", "billing", token=token, port=port)
        self.assertEqual(duewheel("put", "orders-eu", "hello", token=new, port=port, check=False).returncode, 1)


class Documentation(unittest.TestCase):
    def test_the_lines_of_the_page_run_as_pasted(self):
        blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/security.md").read_text(), re.DOTALL)
        (lines,) = [block for block in blocks if "duewheel token add" in block]
        with Daemon() as chosen:  # a free port
            chosen.start()
            port = chosen.port
        lines = lines.replace("127.0.0.1:7420", f"127.0.0.1:{port}") + """
            for refused in "put mail Hello" "lease orders-eu" "token list"; do
                if DUEWHEEL_TOKEN="$PRODUCER" duewheel $refused; then exit 9; fi
            done
            duewheel token list
            kill %1
            wait
        """
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DUEWHEEL_TOKEN")}
        environment.update(PATH=f"{BIN}:{os.environ['PATH']}", DUEWHEEL_HTTP=f"127.0.0.1:{port}",
                           DUEWHEEL_SERVER=f"http://127.0.0.1:{port}", DUEWHEEL_STORE_SEGMENT_SIZE="4MiB")
        with tempfile.TemporaryDirectory(prefix="duewheel-test-") as directory:
            run = subprocess.run(["bash", "-e", "-c", lines], capture_output=True, text=True, timeout=60, cwd=directory, env=environment)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("Hello", run.stdout)  # the lease
        self.assertRegex(run.stdout, r"(?m)^shop\b.*orders-")
        self.assertEqual(run.stderr.count("(forbidden"), 3, run.stderr)


if __name__ == "__main__":
    unittest.main()
