"""duewheel demo: the shop that it puts, that a second fill doubles nothing, and that it goes away whole."""

import json
import subprocess
import unittest

from daemon import BIN, Daemon

QUEUES = ("demo-calls", "demo-customers", "demo-jobs", "demo-mail", "demo-newsletter", "demo-orders", "demo-payments",
          "demo-reports")
SCHEDULES = ("demo-heartbeat", "demo-nightly", "demo-weekly")


class Demo(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.__exit__)
        self.daemon.start()
        self.client = self.daemon.client()

    def run_program(self, *arguments):
        done = subprocess.run([BIN / "duewheel", *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}"],
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def answer(self, *arguments):
        code, output, error = self.run_program("--json", *arguments)
        self.assertEqual((code, error), (0, ""))
        return json.loads(output)

    def get(self, path):
        status, answer = self.client.request("GET", path)
        self.assertEqual(status, 200, answer)
        return answer

    def queues(self):
        """{name: (pending, leased, dead, paused)}, without the queue of the schedules, which the heartbeat fills."""
        return {queue["queue"]: tuple(queue[member] for member in ("pending", "leased", "dead", "paused"))
                for queue in self.get("/v1/queues")["queues"] if queue["queue"] != "demo-jobs"}

    def names(self, kind):
        return tuple(each[kind[:-1]] for each in self.get(f"/v1/{kind}")[kind])

    def test_a_fill_shows_every_state_and_a_second_one_doubles_nothing(self):
        self.assertEqual(self.answer("demo", "fill")["put"], 213)
        shop = self.queues()
        self.assertEqual(shop, {
            "demo-orders": (60, 0, 0, False), "demo-mail": (24, 0, 0, False), "demo-calls": (12, 0, 0, False),
            "demo-payments": (6, 0, 5, False), "demo-customers": (89, 5, 0, False), "demo-newsletter": (10, 0, 0, True),
            "demo-reports": (3, 0, 0, False)})
        self.assertEqual(self.names("queues"), QUEUES)
        self.assertEqual(self.get("/v1/queues/demo-orders")["scheduled"], 60)
        self.assertEqual(self.get("/v1/queues/demo-mail")["ready"], 8)
        self.assertEqual(self.get("/v1/queues/demo-calls")["ready"], 12)  # late after a while, as nothing leases them
        groups = {group["group"]: group for group in self.get("/v1/queues/demo-customers/groups")["groups"]}
        self.assertEqual((groups["megastore"]["leased"], groups["megastore"]["limited_by"]), (1, "leased"))
        self.assertEqual(sum(group["leased"] for group in groups.values()), 5)
        states = {each["schedule"]: each["state"] for each in self.get("/v1/schedules")["schedules"]}
        self.assertEqual(states, {"demo-heartbeat": "active", "demo-nightly": "active", "demo-weekly": "paused"})
        done = self.get("/v1/history?queue=demo-reports&outcome=done")["ended"]
        results = [self.get(f"/v1/messages/{row['id']}")["result"] for row in done]
        self.assertEqual([result["pages"] for result in results], [3, 4, 5, 6])

        self.assertEqual(self.answer("demo", "fill")["put"], 0)
        self.assertEqual(self.queues(), shop)
        self.assertEqual(self.names("schedules"), SCHEDULES)

    # rm looked for the leased messages in the default namespace, and refused for an hour.
    def test_in_a_namespace_it_is_removed_as_well(self):
        output = self.run_program("--namespace", "shop", "demo", "fill")[1]
        self.assertIn("`duewheel --namespace shop demo rm` removes them.", output)
        self.assertEqual(self.run_program("--namespace", "shop", "demo", "rm"), (0, "demo removed\n", ""))
        self.assertEqual(sum(queue["pending"] for queue in self.get("/v1/namespaces/shop/queues")["queues"]), 0)

    def test_rm_leaves_nothing_but_what_is_the_users(self):
        self.client.put("demo-mine", "mine", delay="1h")
        first = self.answer("demo", "fill")["put"]
        shop = self.queues()
        self.assertEqual(self.run_program("demo", "rm"), (0, "demo removed\n", ""))
        self.assertEqual(self.names("schedules"), ())
        left = [queue for queue in self.get("/v1/queues")["queues"] if queue["queue"] != "demo-mine"]
        self.assertEqual([queue for queue in left if queue["pending"] or queue["dead"]], [])
        self.assertEqual(self.queues()["demo-mine"], (1, 0, 0, False))
        self.assertEqual(self.run_program("demo", "rm"), (0, "there was no demo\n", ""))

        # Its keys are remembered for a day: a fill puts what was removed all the same. The reports are done for good.
        self.assertEqual(self.answer("demo", "fill")["put"], first - 4)
        self.assertEqual(self.queues(), shop)
        self.assertEqual(self.answer("demo", "fill")["put"], 0)
        self.assertEqual(self.queues(), shop)

    def test_it_reports_a_refusal_of_the_server_and_messages_that_another_consumer_has(self):
        self.answer("demo", "fill")
        lease = self.client.lease("demo-calls", 1)[0]["lease"]
        code, output, error = self.run_program("demo", "rm")
        self.assertEqual([queue["queue"] for queue in self.get("/v1/queues")["queues"] if queue["pending"]], ["demo-calls"])
        self.assertEqual((code, output), (1, ""))
        self.assertIn("(queue_not_empty", error)
        self.client.request("POST", f"/v1/leases/{lease}:ack")
        self.assertEqual(self.run_program("demo", "rm"), (0, "demo removed\n", ""))
        self.daemon.kill()
        self.assertEqual(self.run_program("demo", "fill")[0], 3)


if __name__ == "__main__":
    unittest.main()
