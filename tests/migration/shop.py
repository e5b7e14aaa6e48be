"""A folder for the files of a page, a real server whose time the test moves, and workers."""

import pathlib
import tempfile
import unittest

import pages

from daemon import Daemon  # from the folder that pages adds


class Shop(unittest.TestCase):
    server_arguments = ()

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)
        self.daemon = Daemon(arguments=["--test-clock", *self.server_arguments])
        self.addCleanup(self.daemon.__exit__)
        self.daemon.start()
        self.client, self.address = self.daemon.client(), f"127.0.0.1:{self.daemon.port}"
        self.workers = pages.Workers(self.place)
        self.addCleanup(self.workers.kill)

    def counts(self, queue):
        return self.client.request("GET", f"/v1/queues/{queue}")[1]

    def until_counted(self, queue, **counts):
        pages.until(f"{counts}", lambda: counts.items() <= self.counts(queue).items(), lambda: f"{self.counts(queue)}\n{self.workers.log()}")

    def until_retrying(self, queue):
        """Until an attempt has failed, and a message waits for its next one."""
        pages.until("a failed attempt", lambda: self.client.request("GET", f"/v1/queues/{queue}/messages?state=retrying")[1]["messages"], self.workers.log)

    def until_logged(self, *lines):
        """Until the workers have printed them, among others."""
        pages.until(f"{lines}", lambda: all(line in self.workers.log() for line in lines), self.workers.log)
