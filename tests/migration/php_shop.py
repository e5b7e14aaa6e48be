"""A shop in PHP for a test: its server speaks beanstalkd's protocol, too."""

import re
import shutil

import pages
from shop import Shop


class PhpShop(Shop):
    page = program = postman = ""  # of docs/migration, in the shop, and where the shop has its Postman
    server_arguments = ("--beanstalk", "127.0.0.1:0")

    def setUp(self):
        super().setUp()
        shutil.copytree(pages.HERE / self.page, self.place, dirs_exist_ok=True)
        self.beanstalk = re.search(r"beanstalk=127\.0\.0\.1:(\d+)", self.daemon.ready)[1]
        self.environment = {"SHOP": str(self.place), "BEANSTALKD_PORT": self.beanstalk}
        pages.write_files(self.page, "php", self.place, {"127.0.0.1:7420/v1/queues": f"{self.address}/v1/queues"})
        (self.place / self.postman).parent.mkdir(exist_ok=True)
        shutil.copy(pages.HERE / "Postman.php", self.place / self.postman)

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
