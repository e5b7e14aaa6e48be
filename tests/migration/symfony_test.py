"""The page docs/migration/symfony.md with Debian's Symfony: delayed messages, retries, the failure transport and killed workers over the protocol
of beanstalkd, and the messages of a Doctrine transport that are moved."""

import json
import sqlite3
import unittest

import pages

pages.skip_without("php", files=[f"/usr/share/php/Symfony/{part}/autoload.php"
                                 for part in ("Bundle/FrameworkBundle", "Component/Yaml", "Component/Messenger/Bridge/Beanstalkd")])

from php_shop import PhpShop  # noqa: E402  needs the programs of the server


class Symfony(PhpShop):
    page, program, postman = "symfony", "console.php", "src/Postman.php"

    def setUp(self):
        super().setUp()
        pages.write_files("symfony", "yaml", self.place, {"127.0.0.1:11300": f"127.0.0.1:{self.beanstalk}"})

    def work(self):
        self.start_worker("messenger:consume", "reminders", "-vv")

    def test_a_message_of_three_days_is_handled_after_three_days(self):
        self.run_program("remind", "ann")
        self.work()
        self.client.advance(by="2d23h")
        self.until_counted("reminders", scheduled=1, waiters=1)
        self.assertEqual(self.notes(), [])
        self.client.advance(by="2h")
        self.until_noted("begins ann", "sent ann")
        self.until_counted("reminders", pending=0, dead=0)

    def test_a_message_is_retried_twice_and_then_in_the_failure_transport_from_where_it_is_retried(self):
        self.run_program("remind", "ann")
        (self.place / "broken").touch()
        self.work()
        for attempt, later in enumerate(("3d", "1m", "1h"), start=1):
            self.until_counted("reminders", scheduled=1, leased=0)
            self.client.advance(by=later)
            self.until_noted(*["begins ann"] * attempt)
        self.until_counted("failed", ready=1)
        self.until_counted("reminders", pending=0, dead=0)
        (self.place / "broken").unlink()
        self.run_program("messenger:failed:retry", "--force")
        self.until_noted(*["begins ann"] * 4, "sent ann")
        self.until_counted("failed", pending=0)

    def test_the_message_of_a_killed_worker_is_handled_by_another_one(self):
        self.run_program("remind", "ann")
        (self.place / "slow").touch()
        self.work()
        self.client.advance(by="3d")
        self.until_noted("begins ann")
        self.workers.kill()
        self.work()
        self.until_noted("begins ann", "begins ann")
        (self.place / "slow").unlink()
        self.until_noted("begins ann", "begins ann", "sent ann")
        self.until_counted("reminders", pending=0, dead=0)

    def test_a_delay_below_a_second_is_none(self):
        self.replace("src/Shop.php", "3 * 24 * 3600 * 1000", "900")
        self.run_program("remind", "ann")
        self.until_counted("reminders", ready=1)

    def test_the_messages_of_a_table_are_moved_once(self):
        self.run_program("remind", "ann")
        known, = self.client.request("GET", "/v1/queues/reminders/messages")[1]["messages"]
        sent = self.client.get(known["id"])[1]
        content = json.loads(sent["body"])
        table = self.place / "doctrine.sqlite"
        row = (7, content["body"], json.dumps(content["headers"]), sent["due"][:19].replace("T", " "), None)
        for _ in range(2):  # the second one as after a death between the put and the end of the row
            with sqlite3.connect(table) as database:
                database.execute("create table if not exists messenger_messages (id, body, headers, available_at, delivered_at)")
                database.execute("insert into messenger_messages values (?, ?, ?, ?, ?)", row)
            pages.run("php", "move_messages.php", f"sqlite:{table}", cwd=self.place)
            self.until_counted("reminders", scheduled=2)
        self.work()
        self.client.advance(by="3d")
        self.until_noted(*["begins ann", "sent ann"] * 2)
        self.until_counted("reminders", pending=0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
