"""A shop in PHP for a test: a folder with the files of a page, a real server that speaks beanstalkd's protocol, and workers."""

import pathlib
import re
import shutil
import tempfile
import unittest

import pages

from daemon import Daemon  # from the folder that pages adds


class PhpShop(unittest.TestCase):
    page = program = postman = ""  # of docs/migration, in the shop, and where the shop has its Postman

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.place = pathlib.Path(self.directory.name)
        shutil.copytree(pages.HERE / self.page, self.place, dirs_exist_ok=True)
        self.daemon = Daemon(arguments=["--test-clock", "--beanstalk", "127.0.0.1:0"])
        self.daemon.start()
        self.beanstalk = re.search(r"beanstalk=127\.0\.0\.1:(\d+)", self.daemon.ready)[1]
        self.client, self.workers = self.daemon.client(), pages.Workers(self.place)
        self.environment = {"SHOP": str(self.place), "BEANSTALKD_PORT": self.beanstalk}
        pages.write_files(self.page, "php", self.place, {"http://127.0.0.1:7420/v1/queues": f"http://127.0.0.1:{self.daemon.port}/v1/queues"})
        (self.place / self.postman).parent.mkdir(exist_ok=True)
        shutil.copy(pages.HERE / "Postman.php", self.place / self.postman)

    def tearDown(self):
        self.workers.kill()
        self.daemon.__exit__()
        self.directory.cleanup()

    def run_program(self, *words):
        return pages.run("php", self.program, *words, cwd=self.place, environment=self.environment)

    def start_worker(self, *words):
        return self.workers.start("php", self.program, *words, cwd=self.place, environment=self.environment)

    def replace(self, name, text, other):
        content = (self.place / name).read_text()
        self.assertIn(text, content)
        (self.place / name).write_text(content.replace(text, other))

    def notes(self):
        path = self.place / "notes"
        return path.read_text().splitlines() if path.exists() else []

    def until_noted(self, *lines):
        pages.until(f"{lines}", lambda: self.notes() == list(lines), lambda: f"{self.notes()}\n{self.workers.log()}")

    def until_counted(self, queue, **counts):
        pages.until(f"{counts}", lambda: counts.items() <= self.counts(queue).items(), lambda: f"{self.counts(queue)}\n{self.workers.log()}")

    def counts(self, queue):
        return self.client.request("GET", f"/v1/queues/{queue}")[1]
