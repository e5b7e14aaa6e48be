"""The command `duewheel-worker`: runs a worker that a module declares."""

import argparse
import asyncio
import importlib
import logging
import os
import sys

from .worker import AsyncWorker, Worker


def main() -> None:
    parser = argparse.ArgumentParser(prog="duewheel-worker", description="Runs a worker until SIGTERM or Ctrl-C, and stops it in order.")
    parser.add_argument("worker", metavar="MODULE:NAME", help="the worker, such as shop.tasks:worker")
    chosen = parser.parse_args().worker
    module, _, name = chosen.partition(":")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs each request as information
    sys.path.insert(0, os.getcwd())
    worker = getattr(importlib.import_module(module), name or "worker", None)
    if not isinstance(worker, Worker):
        parser.error(f"{chosen} is no duewheel.Worker")
    if isinstance(worker, AsyncWorker):
        asyncio.run(worker.run())
    else:
        worker.run()


if __name__ == "__main__":
    main()
