"""The page docs/migration/sqs.md: its program with the Go client, and schedules of EventBridge Scheduler that are moved; a stand-in has them."""

import shutil
import unittest

import pages

PYTHON = pages.client_python("httpx")
pages.skip_without("go")

from shop import Shop  # noqa: E402  needs the programs of the server

GO = {"GOCACHE": str(pages.ROOT / "build" / "go" / "cache"), "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
# Answers as boto3 does.
MOVE = """
import sys

import duewheel
from move_schedules import move_schedules

RULES = {"once": "at(2050-01-01T09:00:00)", "daily": "cron(0 9 * * ? *)", "often": "rate(5 minutes)"}

class Scheduler:
    def get_paginator(self, name):
        return self
    def paginate(self, **filters):
        return [{"Schedules": [{"Name": name, "GroupName": "default"}]} for name in RULES]
    def get_schedule(self, Name, GroupName):
        return {"ScheduleExpression": RULES[Name], "ScheduleExpressionTimezone": "Europe/Berlin", "Target": {"Input": f'{{"name": "{Name}"}}'}}

move_schedules(Scheduler(), duewheel.Client(sys.argv[1]), "reminders")
"""


class Sqs(Shop):
    def test_the_program_of_the_page(self):
        pages.write_files("sqs", "go", self.place, {"127.0.0.1:7420": self.address})
        self.build()
        self.workers.start(self.place / "shop", cwd=self.place)
        self.until_counted("reminders", scheduled=1, waiters=1)
        self.client.advance(by="3d")
        self.until_retrying("reminders")
        self.client.advance(by="1m")
        self.until_logged("reminded ann")

    def test_schedules_are_moved_once(self):
        pages.write_files("sqs", "python", self.place, {})
        for _ in range(2):
            pages.run(PYTHON, "-c", MOVE, f"http://{self.address}", cwd=self.place, environment=pages.CLIENT)
        once, = self.client.request("GET", "/v1/queues/reminders/messages")[1]["messages"]
        self.assertEqual(once["due"], "2050-01-01T08:00:00.000Z")
        settings = {each["schedule"]: each["settings"] for each in self.client.request("GET", "/v1/schedules")[1]["schedules"]}
        self.assertEqual((settings["default.daily"]["cron"], settings["default.daily"]["zone"]), ("0 0 9 * * ? *", "Europe/Berlin"))
        self.assertEqual(settings["default.often"]["every_ms"], 300_000)

    def build(self):
        shutil.copytree(pages.ROOT / "clients" / "go", self.place / "duewheel", ignore=shutil.ignore_patterns("*_test.go"))
        for words in (["mod", "init", "example.test/shop"],
                      ["mod", "edit", "-require", "duewheel.test/duewheel@v0.1.0", "-replace", "duewheel.test/duewheel=./duewheel"],
                      ["vet", "."], ["build", "-o", "shop", "."]):
            pages.run("go", *words, cwd=self.place, environment=GO)
        self.assertEqual(pages.run("gofmt", "-l", "shop.go", cwd=self.place), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
