"""The output of the real daemon for operators: its log as text and as JSON, its ready line, and the messages to
systemd."""

import json
import re
import signal
import socket
import unittest

from daemon import Daemon

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"


def put_and_ack(daemon):
    """One message from its put to its end, each call traced; the answers' traceparent fields."""
    traces = []

    def call(path, members):
        connection = daemon.client().connection
        connection.request("POST", path, json.dumps(members),
                           {"Content-Type": "application/json", "traceparent": TRACE})
        answer = connection.getresponse()
        traces.append(answer.getheader("traceparent"))
        return json.loads(answer.read())

    call("/v1/queues/q/messages", {"body": "x"})
    message = call("/v1/queues/q:lease", {"wait": "10s"})["messages"][0]
    assert message["traceparent"] == TRACE, message
    assert call(f"/v1/leases/{message['lease']}:ack", {}) == {"outcome": "done"}
    return traces, message["lease"]


class Log(unittest.TestCase):
    def test_json_lines_are_objects_with_time_level_event_and_fields(self):
        with Daemon(arguments=["--log-format", "json", "--log-requests", "1"]) as daemon:
            del daemon.environment["DUEWHEEL_STORE_SEGMENT_SIZE"]  # each setting that somebody chose is told
            daemon.start()
            traces, token = put_and_ack(daemon)
            self.assertEqual(traces, [TRACE] * 3)
            self.assertEqual(daemon.terminate(), 0)
            events = [json.loads(line) for line in daemon.log_text().splitlines()]
            for event in events:
                self.assertRegex(event["time"], f"^{TIME}$")
                self.assertIn(event["level"], ("info", "warning"))
                self.assertTrue(event["message"].endswith("."), event)
            names = [event["event"] for event in events]
            order = [name for name in names if name in ("starting", "recovered", "ready", "stopping", "stopped")]
            self.assertEqual(order, ["starting", "recovered", "ready", "stopping", "stopped"])
            self.assertEqual(events[0]["data"], str(daemon.data))
            self.assertRegex(events[0]["version"], r"^\d+\.\d+\.\d+")
            settings = {event["setting"]: (event["value"], event["origin"])
                        for event in events if event["event"] == "setting"}
            self.assertEqual(settings["log.format"], ('"json"', "--log-format"))
            self.assertEqual(set(settings), {"data", "http.listen", "io.threads", "log.format", "log.requests"})
            requests = [event for event in events if event["event"] == "request"]
            self.assertEqual([(each["method"], each["path"], each["status"], each["traceparent"]) for each in requests],
                             [("POST", "/v1/queues/q/messages", 201, TRACE), ("POST", "/v1/queues/q:lease", 200, TRACE),
                              ("POST", "/v1/leases/-:ack", 200, TRACE)])
            self.assertNotIn(token, daemon.log_text())

    def test_text_lines_have_time_level_event_and_fields(self):
        with Daemon() as daemon:
            daemon.start()
            put_and_ack(daemon)
            self.assertEqual(daemon.terminate(), 0)
            lines = daemon.log_text().splitlines()
            for line in lines:
                self.assertRegex(line, rf"^{TIME} (info|warning) [a-z_]+: ")
            self.assertRegex(lines[0], rf"^{TIME} info starting: The server is starting\. version=\d+\.\d+\.\d+ data=")
            self.assertTrue(any(re.search(r" info ready: .* http=127\.0\.0\.1:\d+$", line) for line in lines), lines)
            self.assertFalse([line for line in lines if " request: " in line], "one line a request is not the default")

    def test_events_below_the_level_are_omitted(self):
        with Daemon(arguments=["--log-level", "error"]) as daemon:
            daemon.start()
            self.assertEqual(daemon.terminate(), 0)
            self.assertEqual(daemon.log_text(), "")

    def test_refusals_at_a_limit_are_a_line_and_not_one_each(self):
        with Daemon(arguments=["--limits-queues-max", "2"]) as daemon:
            daemon.start()
            client = daemon.client()
            codes = [client.put(f"q{number}", "x")[0] for number in range(50)]
            self.assertEqual(codes, [201] * 2 + [429] * 48)
            lines = [line for line in daemon.log_text().splitlines() if " limit_refused: " in line]
            self.assertEqual(len(lines), 1, lines)
            self.assertIn("code=queue_limit status=429 count=1", lines[0])

    def test_an_open_listener_is_a_warning(self):
        with Daemon(arguments=["--unsafe-plain-listen"]) as daemon:
            daemon.start()
            self.assertRegex(daemon.log_text(), r" warning unsafe_listen: ")


class Systemd(unittest.TestCase):
    def test_is_told_when_the_server_is_ready_and_when_it_stops(self):
        with Daemon() as daemon, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            path = str(daemon.directory / "notify")
            manager.bind(path)
            manager.settimeout(60)
            daemon.environment["NOTIFY_SOCKET"] = path
            daemon.start()
            self.assertEqual(manager.recv(200), b"STATUS=Opens the data directory.")
            self.assertEqual(manager.recv(200), f"READY=1\nSTATUS=Accepts requests at 127.0.0.1:{daemon.port}.".encode())
            self.assertEqual(daemon.client().request("GET", "/readyz")[0], 200)
            self.assertEqual(daemon.terminate(), 0)
            self.assertEqual(manager.recv(200), b"STOPPING=1\nSTATUS=Answers the requests that it has received.")

    def test_keep_alives_are_sent_while_idle(self):
        with Daemon() as daemon, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            path = str(daemon.directory / "notify")
            manager.bind(path)
            manager.settimeout(60)
            daemon.environment.update(NOTIFY_SOCKET=path, WATCHDOG_USEC="400000")
            daemon.start()
            heard = []
            while heard.count(b"WATCHDOG=1") < 5:
                heard.append(manager.recv(200))
            # A process that is stopped, or whose loop hangs, sends nothing.
            daemon.process.send_signal(signal.SIGSTOP)
            manager.settimeout(1)
            with self.assertRaises(TimeoutError):
                for _ in range(100):
                    manager.recv(200)
            daemon.process.send_signal(signal.SIGCONT)
            manager.settimeout(60)
            self.assertEqual(manager.recv(200), b"WATCHDOG=1")

    def test_a_missing_one_does_not_prevent_the_start(self):
        with Daemon(environment={"NOTIFY_SOCKET": "/nonexistent/notify"}) as daemon:
            daemon.start()
            # The ready line is printed first; what is answered after it was logged before.
            self.assertEqual(daemon.client().request("GET", "/readyz")[0], 200)
            self.assertIn(" warning service_manager_unreachable: ", daemon.log_text())
            self.assertEqual(daemon.terminate(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
