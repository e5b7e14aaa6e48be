#!/usr/bin/env python3
"""The archives for systems without the Debian package: what they hold, and whether their programs run where nothing is installed; the
image for containers.

    tarball_test.py --build BUILD --packages DIRECTORY [--roots DIRECTORY] [CLASS ...]

BUILD is the build of the preset `release` and DIRECTORY what `./dev package` made of it. Each folder of the roots is a system that
debootstrap has unpacked; without them, or without the right to enter them, the tests that run there are skipped.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM_BYTES_MAX = 25 << 20

arguments = argparse.ArgumentParser()
arguments.add_argument("--build", type=pathlib.Path, required=True)
arguments.add_argument("--packages", type=pathlib.Path, required=True)
arguments.add_argument("--roots", type=pathlib.Path)
options, rest = arguments.parse_known_args()


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False, **more)
    if done.returncode:
        raise AssertionError(f"{command} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def the_archive(pattern):
    found = sorted(options.packages.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{options.packages} holds {found or 'no file'} of the form {pattern}; ./dev package makes one")
    return found[0]


def made_at():
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    return {**os.environ, "SOURCE_DATE_EPOCH": epoch}


class Unpacked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive = the_archive("duewheel-*-linux-*[!g].tar.gz")
        cls.temporary = tempfile.TemporaryDirectory(prefix="duewheel-tarball-", dir=options.packages.parent)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.addClassCleanup(cls.temporary.cleanup)
        run("tar", "-C", cls.folder, "-xzf", cls.archive)
        cls.prefix = cls.folder / cls.archive.name.removesuffix(".tar.gz")


class Tarball(Unpacked):
    """What is in it."""

    def test_holds_one_folder_with_what_a_package_would_install(self):
        self.assertEqual([path.name for path in self.folder.iterdir()], [self.prefix.name])
        for path in ("bin/duewheel", "bin/duewheeld", "INSTALL", "LICENSE", "etc/duewheel.toml", "lib/systemd/system/duewheel.service",
                     "share/man/man1/duewheel.1.gz", "share/man/man8/duewheeld.8.gz", "share/bash-completion/completions/duewheel",
                     "share/zsh/vendor-completions/_duewheel", "share/fish/vendor_completions.d/duewheel.fish"):
            self.assertTrue((self.prefix / path).is_file(), path)
        self.assertIn("ExecStart=/opt/duewheel/bin/duewheeld ", (self.prefix / "lib/systemd/system/duewheel.service").read_text())
        self.assertLessEqual(len((self.prefix / "INSTALL").read_text().splitlines()), 10)

    def test_programs_are_small_and_without_debug_information(self):
        for program in (self.prefix / "bin").iterdir():
            self.assertLessEqual(program.stat().st_size, PROGRAM_BYTES_MAX, program)
            self.assertNotIn(".debug_info", run("readelf", "-SW", program))

    def test_debug_information_is_found_by_the_id_of_the_build(self):
        with tarfile.open(the_archive("duewheel-*-debug.tar.gz")) as archive:
            names = archive.getnames()
        for program in (self.prefix / "bin").iterdir():
            build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", program))[1]
            self.assertTrue(any(name.endswith(f"/.build-id/{build_id[:2]}/{build_id[2:]}.debug") for name in names), program)

    def test_libraries_are_those_of_debian_unchanged(self):
        libraries = list((self.prefix / "lib/duewheel").iterdir())
        self.assertGreater(len(libraries), 10)
        for library in libraries:
            self.assertEqual(library.read_bytes(), pathlib.Path(f"/usr/lib/{os.uname().machine}-linux-gnu/{library.name}").read_bytes())
            # One with a search path of its own would not look into the one of the program.
            self.assertNotRegex(run("readelf", "-dW", library), r"\((RPATH|RUNPATH)\)")

    def test_only_the_c_library_comes_from_the_system(self):
        for program in (self.prefix / "bin").iterdir():
            loaded = re.findall(r"(\S+) => (\S+)", run("ldd", program))
            outside = {name for name, path in loaded if not os.path.realpath(path).startswith(str(self.prefix.resolve()))}
            self.assertLessEqual(outside, {"libc.so.6", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "libdl.so.2", "librt.so.1"})

    def test_programs_are_as_hardened_as_those_of_the_package(self):
        for program in (self.prefix / "bin").iterdir():
            self.assertIn("GNU_RELRO", run("readelf", "-lW", program))
            self.assertRegex(run("readelf", "-dW", program), r"FLAGS_1\) +Flags: NOW PIE")

    def test_each_library_has_its_license_and_is_in_the_bill_of_materials(self):
        bill = json.loads((options.packages / "duewheel.spdx.json").read_text())
        tarball = next(part for part in bill["packages"] if part.get("packageFileName") == self.archive.name)
        self.assertEqual(tarball["checksums"][0]["checksumValue"], hashlib.sha256(self.archive.read_bytes()).hexdigest())
        contained = {relation["relatedSpdxElement"] for relation in bill["relationships"]
                     if relation["relationshipType"] == "CONTAINS" and relation["spdxElementId"] == tarball["SPDXID"]}
        packages = {part["name"] for part in bill["packages"] if part["SPDXID"] in contained}
        licenses = {path.name for path in (self.prefix / "share/doc/licenses").iterdir() if path.is_file()}
        self.assertEqual(packages, licenses)
        for library in (self.prefix / "lib/duewheel").iterdir():
            found = subprocess.run(["dpkg-query", "-S", f"*/{library.name}"], capture_output=True, text=True, check=True).stdout
            self.assertTrue(licenses & set(re.findall(r"(?m)^([^:]+)", found)), library)

    def test_checksums_are_those_of_all_files(self):
        listed = dict(reversed(line.split("  ")) for line in (options.packages / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(set(listed), {path.name for path in options.packages.iterdir()} - {"SHA256SUMS"})
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=options.packages)

    def test_is_the_same_when_it_is_made_again(self):
        with tempfile.TemporaryDirectory() as again:
            run(sys.executable, ROOT / "packaging/tarball.py", "--package", the_archive("duewheel_*.deb"), "--build", options.build,
                "--to", again, env={**made_at(), "TZ": "Asia/Tokyo"})
            for path in pathlib.Path(again).iterdir():
                self.assertEqual(path.read_bytes(), (options.packages / path.name).read_bytes(), path.name)


# What a user does first, with a minimal system's own programs. The server speaks TLS, with a certificate that only the file of the
# system's authorities makes valid.
PROBE = """set -eu
export PATH=/opt/duewheel/bin:/usr/bin:/bin HOME=/tmp
duewheel --version
duewheeld --version
duewheeld --data /tmp/data --http 127.0.0.1:0 --tls-certificate /tmp/tls.crt --tls-key /tmp/tls.key >/tmp/ready 2>/tmp/log &
trap 'kill -9 $!' EXIT
n=0
until grep -q '^ready http=' /tmp/ready; do
    n=$((n + 1)); [ $n -lt 300 ] && kill -0 $! || { cat /tmp/log; exit 1; }
    sleep 0.1
done
export DUEWHEEL_SERVER=https://localhost:$(sed -n 's/^ready http=.*:\\([0-9]*\\)$/\\1/p' /tmp/ready)
duewheel health
duewheel put mail hello
lease=$(duewheel lease mail --wait 20s --json | sed -n 's/.*"lease":"\\([^"]*\\)".*/\\1/p')
duewheel ack "$lease"
duewheel schedule set noon mail lunch --cron '0 12 * * *' --zone Europe/Berlin --json
kill $!
wait $!
trap - EXIT
echo all is well
"""


ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


def entering(root, *command, user=0):
    """The command in a root directory with a /proc of its own, where the loader reads in which folder the program is."""
    place = root / "proc"
    if place.is_symlink():  # to the /proc of this system, if debootstrap may not make devices
        place.unlink()
    place.mkdir(exist_ok=True)
    script = f'mount -t proc proc "$0/proc" && exec chroot --userspec={user}:{user} "$0" "$@"'
    return ["unshare", "--mount", "sh", "-c", script, root, *command]


def enter(root, *command, **more):
    return run(*entering(root, *command, **more), env=ENVIRONMENT)


class Elsewhere(Unpacked):
    """Minimal systems: nothing but the archive is added to them."""

    def probe(self, system):
        root = self.folder / system.name
        run("cp", "-a", "--reflink=auto", system, root)
        self.addCleanup(shutil.rmtree, root)
        shutil.copytree(self.prefix, root / "opt/duewheel")
        new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2")
        (root / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
        authorities = root / "etc/ssl/certs/ca-certificates.crt"
        run(*new, "-subj", "/CN=authority", "-keyout", self.folder / "ca.key", "-out", authorities)
        run(*new, "-subj", "/CN=server", "-keyout", root / "tmp/tls.key", "-out", root / "tmp/tls.crt", "-CA", authorities,
            "-CAkey", self.folder / "ca.key", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE")
        (root / "tmp/probe").write_text(PROBE)
        return enter(root, "sh", "/tmp/probe")

    def test_runs_on_minimal_systems(self):
        systems = sorted(made.parent for made in options.roots.glob("*/made")) if options.roots else []
        if not systems or os.geteuid() != 0:
            self.skipTest("there is no minimal system to run in: debootstrap needs root and a mirror")
        for system in systems:
            with self.subTest(system.name):
                said = self.probe(system)
                self.assertTrue(said.endswith("all is well\n"), said)
                self.assertRegex(said, r"^(\d+\.\d+\.\d+\S*.*\n)\1healthy\n")
                self.assertIn("Europe/Berlin", said)


class Image(unittest.TestCase):
    engine = next((name for name in ("podman", "docker") if shutil.which(name) and
                   subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0), None)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="duewheel-image-", dir=options.packages.parent)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.archive = the_archive("duewheel-*-image-*.tar.gz")
        run("tar", "-C", self.folder, "-xzf", self.archive)
        self.manifest = json.loads((self.folder / "manifest.json").read_text())[0]
        self.configuration = json.loads((self.folder / self.manifest["Config"]).read_text())

    def digest(self, name):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def test_names_are_digests(self):
        self.assertEqual(f"{self.digest(self.manifest['Config'])}.json", self.manifest["Config"])
        layers = [self.digest(layer) for layer in self.manifest["Layers"]]
        self.assertEqual([f"sha256:{layer}" for layer in layers], self.configuration["rootfs"]["diff_ids"])
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"manifest.json", self.manifest["Config"], *self.manifest["Layers"]})

    def test_says_what_the_container_file_says(self):
        settings = self.configuration["config"]
        self.assertEqual(settings["User"], "7420:7420")
        self.assertEqual(settings["Entrypoint"], ["duewheeld", "--config", "/etc/duewheel/duewheel.toml"])
        self.assertEqual(settings["Healthcheck"]["Test"], ["CMD", "duewheel", "health"])
        self.assertEqual(settings["Healthcheck"]["Interval"], 10 * 10**9)
        self.assertEqual(list(settings["Volumes"]), ["/var/lib/duewheel"])

    def test_layer_belongs_to_root_except_the_data(self):
        with tarfile.open(self.folder / self.manifest["Layers"][0]) as layer:
            for entry in layer:
                self.assertEqual(entry.uid, 7420 if entry.name == "var/lib/duewheel" else 0, entry.name)
                self.assertFalse(entry.mode & 0o6000, entry.name)

    def test_is_the_same_when_it_is_made_again(self):
        run(sys.executable, ROOT / "packaging/image.py", "--package", the_archive("duewheel_*.deb"), "--to", self.folder,
            env={**made_at(), "TZ": "Asia/Tokyo"})
        self.assertEqual((self.folder / self.archive.name).read_bytes(), self.archive.read_bytes())

    @unittest.skipIf(engine, "the image is loaded and run")
    @unittest.skipIf(os.geteuid(), "only root can enter a root directory")
    def test_entry_point_and_health_check_work_in_its_root_directory(self):
        root = self.folder / "root"
        root.mkdir()
        run("tar", "-C", root, "-xpf", self.folder / self.manifest["Layers"][0])
        settings = self.configuration["config"]
        user = int(settings["User"].partition(":")[0])
        server = subprocess.Popen(entering(root, *settings["Entrypoint"], "--http", "127.0.0.1:0", user=user), env=ENVIRONMENT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        self.assertTrue(select.select([server.stdout], [], [], 60)[0])
        ready = re.match(r"ready http=(\S+)", server.stdout.readline())
        self.assertTrue(ready, server.poll() is not None and server.stderr.read())
        address = f"http://{ready[1]}"
        self.assertEqual(enter(root, *settings["Healthcheck"]["Test"][1:], "--server", address, user=user), "healthy\n")
        shown = enter(root, "duewheel", "schedule", "set", "noon", "mail", "lunch", "--cron", "0 12 * * *", "--zone", "Europe/Berlin",
                      "--server", address, user=user)
        self.assertIn("Europe/Berlin", shown)
        server.terminate()
        self.assertEqual(server.wait(60), 0)

    @unittest.skipUnless(engine, "neither podman nor docker runs here")
    def test_is_loaded_and_run(self):
        name = f"duewheel-test-{os.getpid()}"
        run(self.engine, "load", "-i", self.archive)
        run(self.engine, "run", "-d", "--name", name, self.manifest["RepoTags"][0])
        self.addCleanup(run, self.engine, "rm", "-f", "-v", name)
        deadline = time.monotonic() + 60
        while subprocess.run([self.engine, "exec", name, "duewheel", "health"], capture_output=True, check=False).returncode:
            self.assertLess(time.monotonic(), deadline)
        run(self.engine, "exec", name, "duewheel", "put", "mail", "hello")
        run(self.engine, "stop", name)
        self.assertEqual(run(self.engine, "inspect", "-f", "{{.State.ExitCode}}", name).strip(), "0")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
