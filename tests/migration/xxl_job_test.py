"""The page docs/migration/xxl_job.md: its program with the Java client, and the tasks of a scheduling center's table that become schedules."""

import sqlite3
import unittest

import pages

PYTHON = pages.client_python("httpx")
PATH = pages.java_path()

from shop import Shop  # noqa: E402  needs the programs of the server

# The columns of xxl-job's table that matter, with tasks of each kind.
TASKS = """
create table xxl_job_info (id, executor_handler, executor_param, schedule_type, schedule_conf, misfire_strategy, executor_block_strategy,
                           executor_fail_retry_count, trigger_status);
insert into xxl_job_info values
    (1, 'report', '2027', 'CRON', '0 0 9 ? * MON-FRI', 'DO_NOTHING', 'SERIAL_EXECUTION', 3, 1),
    (2, 'poll', null, 'FIX_RATE', '30', 'FIRE_ONCE_NOW', 'DISCARD_LATER', 0, 1),
    (3, 'stopped', '', 'CRON', '0 0 9 * * ?', 'DO_NOTHING', 'SERIAL_EXECUTION', 0, 0),
    (4, 'by hand', '', 'NONE', '', 'DO_NOTHING', 'SERIAL_EXECUTION', 0, 1);
"""
MOVE = "import sqlite3, sys, duewheel, move_tasks; move_tasks.move_tasks(sqlite3.connect('tasks'), duewheel.Client(sys.argv[1]), 'Asia/Shanghai')"


class XxlJob(Shop):
    def schedule(self, name):
        return self.client.request("GET", f"/v1/schedules/{name}")[1]

    def test_a_program_with_its_schedules(self):
        path = pages.compile_java("xxl_job", self.place, PATH, {"127.0.0.1:7420": self.address})
        self.workers.start("java", "-cp", path, "Books", cwd=self.place)
        self.until_counted("tidyUp", waiters=1)
        self.assertEqual(self.schedule("closeBooks")["settings"]["zone"], "Asia/Shanghai")
        self.client.advance(to_ms=self.schedule("closeBooks")["next_ms"])
        self.until_logged("closed 2027", "tidied up")

    def test_the_tasks_of_a_scheduling_center_become_schedules_once(self):
        pages.write_files("xxl_job", "python", self.place, {})
        with sqlite3.connect(self.place / "tasks") as database:
            database.executescript(TASKS)
        for _ in range(2):
            pages.run(PYTHON, "-c", MOVE, f"http://{self.address}", cwd=self.place, environment=pages.CLIENT)
        self.assertEqual([each["schedule"] for each in self.client.request("GET", "/v1/schedules")[1]["schedules"]], ["poll-2", "report-1"])
        report, poll = self.schedule("report-1")["settings"], self.schedule("poll-2")["settings"]
        self.assertEqual([report[name] for name in ("queue", "cron", "zone", "misfire", "overlap", "body")],
                         ["report", "0 0 9 ? * MON-FRI", "Asia/Shanghai", "skip", "queue_one", "2027"])
        self.assertEqual([report["retry"]["attempts"], poll["retry"]["attempts"]], [4, 1])
        self.assertEqual([poll["every_ms"], poll["misfire"], poll["overlap"]], [30_000, "once", "skip"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
