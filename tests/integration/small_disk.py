"""A file system in memory of a chosen size, for tests that fill a disk.

It is mounted in a mount namespace of this process and its children, so that nothing is left behind however the test
ends. This needs the right to mount; without it, Refused is raised and the test is skipped.
"""

import ctypes
import os

CLONE_NEWNS = 0x00020000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    pass


def call(what, result):
    if result != 0:
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")


class SmallDisk:
    def __init__(self, path, megabytes):
        self.path = path
        call("a mount namespace of one's own", libc.unshare(CLONE_NEWNS))
        call("mounts of one's own", libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
        os.makedirs(path)
        call("mounting a file system in memory",
             libc.mount(b"small", os.fsencode(path), b"tmpfs", 0, f"size={megabytes}m,mode=700".encode()))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        libc.umount2(os.fsencode(self.path), MNT_DETACH)

    @property
    def ballast(self):
        return self.path / "ballast"

    def fill(self):
        """Takes all that is free."""
        with open(self.ballast, "ab", buffering=0) as file:
            for piece in (1 << 20, 4096):
                try:
                    while True:
                        file.write(bytes(piece))
                except OSError:
                    pass

    def make_room(self):
        self.ballast.unlink()
