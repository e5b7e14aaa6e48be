"""The wall clock of daemons under test, which can be set while they run and while they do not: a library between them
and the system reports another time. It comes with the package faketime."""

import pathlib
import tempfile


class Wall:
    """The wall clock of the daemons that get its environment, so many seconds ahead of the machine's."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="duewheel-test-")
        self.file = pathlib.Path(self.directory.name) / "offset"
        self.set_ahead(0)
        libraries = list(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        if not libraries:
            raise AssertionError("the package faketime is not installed; tools/packages.txt names it")
        self.environment = {"LD_PRELOAD": str(libraries[0]), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
                            "FAKETIME_NO_CACHE": "1", "FAKETIME_TIMESTAMP_FILE": str(self.file)}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.directory.cleanup()

    def set_ahead(self, seconds):
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds:+}s\n")
        fresh.replace(self.file)

    def set_ahead_in_another_run(self, daemon, seconds):
        """While that daemon does not run, as if its machine had not either: the next start believes it, up to 400 days."""
        (daemon.data / "clock").unlink(missing_ok=True)
        self.set_ahead(seconds)
