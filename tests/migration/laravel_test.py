"""The page docs/migration/laravel.md with Debian's Laravel: delayed jobs, retries, releases, failed jobs and killed workers over the protocol of
beanstalkd, and the jobs of a database that are moved."""

import unittest

import pages

pages.skip_without("php", files=["/usr/share/php/Illuminate/Queue/BeanstalkdQueue.php", "/usr/share/php/Pheanstalk/autoload.php"])

from php_shop import PhpShop  # noqa: E402  needs the programs of the server


class Laravel(PhpShop):
    page, program, postman = "laravel", "artisan.php", "app/Postman.php"

    def setUp(self):
        super().setUp()
        for folder in ("bootstrap/cache", "storage/framework/views", "database/migrations"):
            (self.place / folder).mkdir(parents=True)
        (self.place / "database" / "shop.sqlite").touch()

    def remind_one(self):
        """Two reminders are put, and the second one is cancelled."""
        self.assertEqual(self.client.cancel(self.run_program("remind.php"))[1]["outcome"], "cancelled")

    def work(self):
        self.start_worker("queue:work", "--sleep=0")

    def test_a_job_of_three_days_runs_after_three_days_and_a_cancelled_one_never(self):
        self.remind_one()
        self.work()
        self.client.advance(by="2d23h")
        self.assertEqual(self.notes(), [])
        self.client.advance(by="2h")
        self.until_noted("begins ann", "sent ann")
        self.until_counted("default", pending=0, dead=0)

    def test_a_job_is_tried_three_times_and_then_in_the_table_of_failed_jobs_from_where_it_is_retried(self):
        for words in (["queue:failed-table"], ["migrate"]):
            self.run_program(*words)
        self.remind_one()
        (self.place / "broken").touch()
        self.work()
        for attempt, later in enumerate(("3d", "1m", "1h"), start=1):
            self.until_counted("default", scheduled=1)
            self.client.advance(by=later)
            self.until_noted(*["begins ann"] * attempt)
        self.until_counted("default", pending=0, dead=0)
        pages.until("a failed job", lambda: "RemindCustomer" in self.run_program("queue:failed"), self.workers.log)
        (self.place / "broken").unlink()
        self.run_program("queue:retry", "all")
        self.until_noted(*["begins ann"] * 4, "sent ann")
        self.until_counted("default", pending=0)

    def test_a_released_job_comes_again_later(self):
        self.remind_one()
        (self.place / "busy").touch()
        self.work()
        self.client.advance(by="3d")
        self.until_noted("busy")
        self.until_counted("default", scheduled=1)
        (self.place / "busy").unlink()
        self.client.advance(by="9m")
        self.until_counted("default", scheduled=1)
        self.client.advance(by="1m")
        self.until_noted("busy", "begins ann", "sent ann")
        self.until_counted("default", pending=0)

    def test_the_job_of_a_killed_worker_runs_in_another_one(self):
        self.remind_one()
        (self.place / "slow").touch()
        self.work()
        self.client.advance(by="3d")
        self.until_noted("begins ann")
        self.workers.kill()
        self.work()
        self.until_noted("begins ann", "begins ann")
        (self.place / "slow").unlink()
        self.until_noted("begins ann", "begins ann", "sent ann")
        self.until_counted("default", pending=0, dead=0)

    def test_the_jobs_of_a_database_are_moved_once(self):
        for words in (["queue:table"], ["migrate"], ["dispatch_to_database.php"], ["keep_jobs.php"], ["move_jobs.php"]):
            self.run_program(*words)
        self.until_counted("default", scheduled=2, ready=0)
        for words in (["return_jobs.php"], ["move_jobs.php"]):  # as after a death between the put and the end of the row
            self.run_program(*words)
        self.until_counted("default", scheduled=2, ready=0)
        self.work()
        self.client.advance(by="4d")
        pages.until("both jobs", lambda: {"sent cleo", "sent dora"} <= set(self.notes()), self.workers.log)
        self.until_counted("default", pending=0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
