"""The process of one adapter, and the line protocol that it speaks: README.md, "The protocol"."""

import itertools
import json
import queue
import subprocess
import threading

ANSWER_WITHIN_S = 60


SKIPPED = 77  # the exit code of an adapter that lacks something on this machine


class AdapterFailed(Exception):
    """The adapter has ended, answers nothing, or does not speak the protocol."""


def lacks_something(command):
    """Whether the adapter cannot run on this machine; it says why. Otherwise it ends with its input, which is empty."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, timeout=ANSWER_WITHIN_S, check=False).returncode == SKIPPED


class Adapter:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.answers = {}  # of requests in progress, by number; guarded by lock
        threading.Thread(target=self.read, daemon=True).start()
        self.about = self.request("hello")["ok"]

    def read(self):
        for line in self.process.stdout:
            try:
                answer = json.loads(line)
                with self.lock:
                    slot = self.answers.pop(answer["id"])
            except (ValueError, KeyError, TypeError):
                slot, answer = None, line
            if not slot:
                break
            slot.put(answer)
        else:
            answer = "its process has ended"
        self.process.kill()
        with self.lock:
            for slot in self.answers.values():
                slot.put(AdapterFailed(f"the adapter failed: {answer!r}"))
            self.answers = None

    def start(self, do, client="client", arguments=None):
        """Sends a request; the slot where its answer will be."""
        slot = queue.Queue()
        with self.lock:
            if self.answers is None:
                raise AdapterFailed("the adapter has ended")
            number = next(self.numbers)
            self.answers[number] = slot
            line = json.dumps({"id": number, "do": do, "client": client, "with": arguments or {}}, ensure_ascii=False)
            try:
                self.process.stdin.write(line + "\n")
                self.process.stdin.flush()
            except OSError as error:
                raise AdapterFailed("the adapter has ended") from error
        return slot

    @staticmethod
    def finish(slot):
        """The answer: an object with `ok` or `error`."""
        try:
            answer = slot.get(timeout=ANSWER_WITHIN_S)
        except queue.Empty:
            raise AdapterFailed(f"the adapter did not answer within {ANSWER_WITHIN_S} s") from None
        if isinstance(answer, AdapterFailed):
            raise answer
        return answer

    def request(self, do, client="client", arguments=None):
        return self.finish(self.start(do, client, arguments))

    def kill(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except OSError:
                pass  # what was not sent is lost with the process
