#!/usr/bin/env python3
"""The Debian packages as their users get them: what they hold, and what an installation, an upgrade over existing data, a
removal and a purge do.

    package_test.py --build BUILD --packages DIRECTORY [--root DEBIAN] [CLASS ...]

BUILD is the build of the preset `release` and DIRECTORY what `./dev package` made of it. DEBIAN is a minimal Debian made by
debootstrap; nothing is ever installed into this machine. Without one, or without the right to enter it, the tests that install
are skipped, and the packages are only unpacked and run from there.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER = 7420  # of the container file
SPDX = ROOT / "build/python/bin/pyspdxtools"

arguments = argparse.ArgumentParser()
arguments.add_argument("--build", type=pathlib.Path, required=True)
arguments.add_argument("--packages", type=pathlib.Path, required=True)
arguments.add_argument("--root", type=pathlib.Path)
options, rest = arguments.parse_known_args()


def run(*command, code=0, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **more)
    if done.returncode != code:
        raise AssertionError(f"{command} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def the_package(directory, name):
    found = sorted(directory.glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise AssertionError(f"{directory} holds {found or 'no package'} of the name {name}; ./dev package makes one")
    return found[0]


def pack(to, *settings):
    """Packs what is built once more."""
    run("cpack", "--config", options.build / "CPackConfig.cmake", "-B", to, *settings, cwd=options.build)
    return to


def compiled_at():
    return {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or
            run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()}


class Server:
    """A daemon that was started by `command`, and its command line in the same place."""

    def __init__(self, daemon, client, log, **more):
        self.client = client
        self.log = log
        with open(log, "ab") as errors:
            self.process = subprocess.Popen([str(word) for word in daemon], stdout=subprocess.PIPE, stderr=errors, **more)
        ready = select.select([self.process.stdout], [], [], 60)[0]
        line = self.process.stdout.readline().decode() if ready else ""
        match = re.match(r"ready http=(\S+)", line)
        if not match:
            self.process.kill()
            raise AssertionError(f"the server did not get ready: {pathlib.Path(log).read_text()}")
        self.url = f"http://{match[1]}"

    def __call__(self, *words, code=0):
        return run(*self.client, *words, code=code, env={**os.environ, "DUEWHEEL_SERVER": self.url, "TZ": "UTC"})

    def answer(self, *words):
        return json.loads(self(*words, "--json"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


@contextlib.contextmanager
def serving(*words, **more):
    server = Server(*words, **more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        server.process.stdout.close()


class Packages(unittest.TestCase):
    """What is in them."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="duewheel-package-")
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.server = the_package(options.packages, "duewheel")
        cls.library = the_package(options.packages, "libduewheel-dev")
        cls.client = the_package(options.packages, "libduewheel-client-dev")
        cls.docs = the_package(options.packages, "duewheel-doc")
        cls.packages = (cls.server, cls.library, cls.client, cls.docs)
        for package in cls.packages:
            run("dpkg-deb", "-x", package, cls.folder / package.name.split("_")[0])
        cls.root = cls.folder / "duewheel"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def listing(self, package):
        """{path: (mode, owner)}"""
        lines = run("dpkg-deb", "-c", package).splitlines()
        return {line.split(None, 5)[5].removeprefix("."): tuple(line.split()[:2]) for line in lines}

    def test_hold_what_they_should_and_nothing_else(self):
        files = self.listing(self.server)
        for path in ("/usr/bin/duewheel", "/usr/bin/duewheeld", "/usr/lib/systemd/system/duewheel.service",
                     "/etc/duewheel/duewheel.toml", "/usr/share/man/man1/duewheel.1.gz", "/usr/share/man/man8/duewheeld.8.gz",
                     "/usr/share/man/man1/duewheel-put.1.gz", "/usr/share/bash-completion/completions/duewheel",
                     "/usr/share/zsh/vendor-completions/_duewheel", "/usr/share/fish/vendor_completions.d/duewheel.fish",
                     "/usr/share/doc/duewheel/copyright", "/usr/share/doc/duewheel/operating.md",
                     "/usr/share/doc/duewheel/examples/duewheel.rules.yml", "/usr/share/doc/duewheel/examples/duewheel.json"):
            self.assertIn(path, files)
        # The pages name the reasons of what they say.
        linked = {link for page in (ROOT / "docs").glob("*.md") for link in re.findall(r"\]\((decisions/[^)#]+)", page.read_text())}
        self.assertGreater(len(linked), 5)
        for link in linked:
            self.assertIn(f"/usr/share/doc/duewheel/{link}", files)
        known = r"/(usr/(bin|lib/systemd|share/(bash-completion|doc/duewheel|fish|man|zsh))|etc/duewheel)(/|$)"
        for path, (mode, owner) in files.items():
            self.assertEqual(owner, "root/root", path)
            wanted = "drwxr-xr-x" if path.endswith("/") else "-rwxr-xr-x" if path.startswith("/usr/bin/") else "-rw-r--r--"
            self.assertEqual(mode, wanted, path)
            if not path.endswith("/"):
                self.assertRegex(path, known)
        for package, folder in ((self.library, "timers/include"), (self.client, "clients/cpp/include")):
            headers = {path.removeprefix("/usr/include/") for path in self.listing(package) if path.endswith(".h")}
            self.assertEqual(headers, {str(path.relative_to(ROOT / folder)) for path in (ROOT / folder).rglob("*.h")})

    def test_name_what_they_need(self):
        depends = run("dpkg-deb", "-f", self.server, "Depends")
        for needed in ("libc6 (>= 2.", "librocksdb", "libssl3", "libcurl4", "librdkafka1", "libboost-json1", "libcctz2", "tzdata"):
            self.assertIn(needed, depends)
        self.assertIn("libcctz-dev", run("dpkg-deb", "-f", self.library, "Depends"))
        self.assertIn("libcurl4-openssl-dev", run("dpkg-deb", "-f", self.client, "Depends"))
        self.assertIn("/etc/duewheel/duewheel.toml\n", run("dpkg-deb", "-I", self.server, "conffiles"))

    def test_are_the_same_when_they_are_packed_again(self):
        again = pack(self.folder / "again", "-D", "CPACK_THREADS=1")
        for package in self.packages:
            self.assertEqual(package.read_bytes(), (again / package.name).read_bytes(), package.name)

    def test_hold_no_path_of_the_build(self):
        for path in (path for name in ("duewheel", "libduewheel-dev", "libduewheel-client-dev", "duewheel-doc") for path in (self.folder / name).rglob("*")):
            if path.is_file():
                self.assertNotIn(str(ROOT).encode(), path.read_bytes(), path)

    def test_programs_are_hardened(self):
        for program in ("duewheel", "duewheeld"):
            path = self.root / "usr/bin" / program
            self.assertRegex(run("readelf", "-hW", path), r"Type: +DYN \(Position-Independent Executable file\)")
            segments = run("readelf", "-lW", path)
            self.assertIn("GNU_RELRO", segments)
            self.assertRegex(segments, r"GNU_STACK .* RW +0x")
            self.assertRegex(run("readelf", "-dW", path), r"FLAGS_1\) +Flags: NOW PIE")
            symbols = run("readelf", "--dyn-syms", "-W", path)
            self.assertIn("__stack_chk_fail", symbols)
            self.assertRegex(symbols, r"__\w+_chk@")  # FORTIFY_SOURCE
            code = run("objdump", "-d", "--no-show-raw-insn", path)
            self.assertGreater(len(re.findall(r"\bor[ql]? +\$0x0,\(%rsp\)", code)), 10)  # stack-clash-protection probes each page
            self.assertGreater(len(re.findall(r"\bendbr64\b", code)), 1000)  # cf-protection
            # It is in force only if each object has it, also those of the C library: docs/security.md tells users.
            start = run("readelf", "-nW", run("gcc", "-print-file-name=crt1.o").strip())
            self.assertEqual("IBT, SHSTK" in run("readelf", "-nW", path), "IBT, SHSTK" in start)
        flags = ("-D_FORTIFY_SOURCE=3", "-fstack-protector-strong", "-fstack-clash-protection", "-fcf-protection=full", "-fPIE")
        for entry in json.loads((options.build / "compile_commands.json").read_text()):
            for flag in flags:
                self.assertIn(flag, entry["command"], entry["file"])

    def test_the_server_runs_from_where_it_is_unpacked(self):
        data = self.folder / "data"
        with serving([self.root / "usr/bin/duewheeld", "--config", self.root / "etc/duewheel/duewheel.toml", "--data", data,
                      "--http", "127.0.0.1:0", "--http-docs", self.folder / "duewheel-doc/usr/share/doc/duewheel/html"],
                     [self.root / "usr/bin/duewheel"], self.folder / "log") as server:
            server("put", "mail", "hello", "--in", "200ms")
            leased = server.answer("lease", "mail", "--wait", "20s")["messages"]
            self.assertEqual([message["body"] for message in leased], ["hello"])
            server("ack", leased[0]["lease"])
            self.assertIn('id="queue_full"', run("curl", "-sf", server.url + "/docs/errors"))
            self.assertIn("<title>The dashboard", run("curl", "-sf", server.url + "/docs/dashboard"))
            self.assertEqual(server.stop(), 0)

    def test_a_project_finds_the_library(self):
        outside = self.folder / "outside"
        shutil.copytree(ROOT / "timers/tests/outside", outside)
        (outside / "headers").mkdir()
        (outside / "headers/main.cc").write_text("int main() {}\n")
        run("cmake", "-S", outside, "-B", outside / "build", "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.folder / 'libduewheel-dev/usr'}")
        run("cmake", "--build", outside / "build", "--target", "outside")
        self.assertIn("9 at 86400", run(outside / "build/outside"))

    def test_a_project_finds_the_client(self):
        outside = self.folder / "shop"
        outside.mkdir()
        (outside / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(shop LANGUAGES CXX)\n"
                                                "find_package(duewheel-client REQUIRED)\nadd_executable(shop shop.cc)\n"
                                                "target_link_libraries(shop PRIVATE duewheel::client_testing)\n")
        (outside / "shop.cc").write_text("#include <duewheel/client/testing.h>\n\nint main() {\n    duewheel::client::TestServer server;\n"
                                         '    return server.client().put("q", "x") ? 0 : 1;\n}\n')
        run("cmake", "-S", outside, "-B", outside / "build", "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.folder / 'libduewheel-client-dev/usr'}")
        run("cmake", "--build", outside / "build")
        run(outside / "build/shop", env={**os.environ, "DUEWHEEL_BIN": str(self.root / "usr/bin")})

    def test_the_bill_of_materials_names_every_library(self):
        bill = json.loads((options.packages / "duewheel.spdx.json").read_text())
        parts = {part["name"]: part for part in bill["packages"]}
        digest = hashlib.sha256(self.server.read_bytes()).hexdigest()
        self.assertEqual(parts["duewheel"]["checksums"][0]["checksumValue"], digest)
        linked = {name for relation in bill["relationships"] if relation["relationshipType"] == "DYNAMIC_LINK"
                  for name, part in parts.items() if part["SPDXID"] == relation["relatedSpdxElement"]}
        depends = set(re.findall(r"(?:^|, )([\w.+-]+)", run("dpkg-deb", "-f", self.server, "Depends"))) - {"tzdata"}
        provided = run("dpkg-query", "-W", "-f", "${Provides}, ", *linked)  # a dependency may be a name that a library provides
        self.assertLessEqual(depends, linked | set(re.findall(r"([\w.+-]+)(?: \([^)]*\))?, ", provided)))
        for name in ("libboost1.81-dev", "libcli11-dev", "libtomlplusplus-dev"):  # headers alone
            self.assertIn(name, parts)
        for name in linked:
            self.assertTrue(parts[name]["versionInfo"], name)
            self.assertNotEqual(parts[name]["licenseDeclared"], "NOASSERTION", name)

    @unittest.skipUnless(SPDX.exists(), "spdx-tools is not in build/python")
    def test_the_bill_of_materials_is_valid(self):
        run(SPDX, "-i", options.packages / "duewheel.spdx.json", "--version", "SPDX-2.3")


def can_enter():
    return bool(options.root and (options.root / "made").exists() and os.geteuid() == 0)


class Debian(unittest.TestCase):
    """A copy of the minimal Debian for each test."""

    def setUp(self):
        if not can_enter():
            self.skipTest("there is no minimal Debian to install into: debootstrap needs root and a mirror")
        temporary = tempfile.TemporaryDirectory(prefix="duewheel-debian-", dir=options.build)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.root = self.folder / "root"
        run("cp", "-a", "--reflink=auto", options.root, self.root)

    def install(self):
        package = the_package(options.packages, "duewheel")
        shutil.copy(package, self.root / "tmp")
        self.enter("apt-get", "install", "-qq", "-y", "--no-install-recommends", f"/tmp/{package.name}")

    def enter(self, *command, code=0, **more):
        environment = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
        return run("chroot", self.root, *command, code=code, env=environment, **more)

    def serving(self, user, *daemon):
        return serving(["chroot", f"--userspec={user}:{user}", self.root, *daemon, "--http", "127.0.0.1:0"],
                       ["chroot", self.root, "/usr/bin/duewheel"], self.folder / "log")


class Installation(Debian):
    def installed_server(self):
        return self.serving(USER, "/usr/bin/duewheeld", "--config", "/etc/duewheel/duewheel.toml")

    def test_installs_serves_upgrades_over_its_data_and_goes(self):
        self.install()
        link = self.root / "etc/systemd/system/multi-user.target.wants/duewheel.service"
        self.assertTrue(link.is_symlink())
        self.assertRegex(self.enter("duewheel", "--version"), r"^\d+\.\d+\.\d+( \([0-9a-f]{12}(\+changes)?, \d{4}-\d\d-\d\d\))?\n$")

        data = self.root / "var/lib/duewheel"
        data.mkdir(mode=0o700)
        os.chown(data, USER, USER)
        with self.installed_server() as server:
            later = server.answer("put", "mail", "later", "--in", "1d")["id"]
            held = server.answer("put", "mail", "held", "--held")["id"]
            server("put", "mail", "now")
            leased = server.answer("lease", "mail", "--wait", "20s")["messages"]
            self.assertEqual([message["body"] for message in leased], ["now"])
            server("ack", leased[0]["lease"])
            server("put", "mail", "not taken yet")
            self.assertEqual(server.stop(), 0)

        # What the administrator wrote into the configuration survives, and so does all data.
        configuration = self.root / "etc/duewheel/duewheel.toml"
        configuration.write_text(configuration.read_text().replace('\n#level = "info"', '\nlevel = "debug"'))
        newer = the_package(pack(self.folder / "newer", "-D", "CPACK_DEBIAN_PACKAGE_RELEASE=2"), "duewheel")
        shutil.copy(newer, self.root / "tmp")
        self.enter("dpkg", "-i", f"/tmp/{newer.name}")
        self.assertTrue(self.enter("dpkg-query", "-W", "-f", "${Version}", "duewheel").endswith("-2"))
        self.assertIn('\nlevel = "debug"', configuration.read_text())
        with self.installed_server() as server:
            self.assertEqual(server.answer("get", later)["state"], "scheduled")
            self.assertEqual(server.answer("get", held)["state"], "held")
            leased = server.answer("lease", "mail", "--wait", "20s")["messages"]
            self.assertEqual([message["body"] for message in leased], ["not taken yet"])
            self.assertEqual(server.stop(), 0)

        self.enter("dpkg", "-r", "duewheel")
        self.assertFalse((self.root / "usr/bin/duewheeld").exists())
        self.assertTrue(configuration.exists())
        self.assertTrue(any(data.iterdir()))
        self.enter("dpkg", "-P", "duewheel")
        for path in (configuration.parent, data, link):
            self.assertFalse(os.path.lexists(path), path)


PROBE = """#!/bin/sh
wait_for() { n=0; until "$@"; do n=$((n + 1)); [ $n -lt 300 ] || exit 1; sleep 0.1; done >/dev/null 2>&1; }
set -ex
wait_for systemctl is-active duewheel
systemctl show -p StatusText -p DynamicUser duewheel
pid=$(systemctl show -p MainPID --value duewheel)
grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/$pid/status
duewheel put mail before --in 1d
systemctl kill -s KILL duewheel
wait_for sh -c "systemctl is-active duewheel && [ $pid != \\$(systemctl show -p MainPID --value duewheel) ]"
wait_for duewheel health
duewheel list mail --json
systemctl reload duewheel
systemctl show -p NRestarts duewheel
stat -c 'data %a %F' /var/lib/duewheel/ /var/lib/duewheel
sed -i 's|^#certificate = ""|certificate = "/etc/duewheel/tls.crt"|; s|^#key = ""|key = "/run/credentials/duewheel.service/tls.key"|' \
    /etc/duewheel/duewheel.toml
systemctl restart duewheel
export DUEWHEEL_SERVER=https://localhost:7420 DUEWHEEL_CA_FILE=/etc/duewheel/ca.pem
duewheel health
systemctl reload duewheel
wait_for sh -c "journalctl -u duewheel | grep -q tls_reloaded"
duewheel health
systemctl stop duewheel
systemctl show -p Result -p ExecMainStatus duewheel
echo all is well
"""


class Service(Debian):
    """The service under a systemd of its own, in a network of its own: first as it is installed, then with TLS."""

    def make_certificates(self):
        """An authority, and a certificate whose key only root can read."""
        place = self.root / "etc/duewheel"
        new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2")
        run(*new, "-subj", "/CN=authority", "-keyout", self.folder / "ca.key", "-out", place / "ca.pem")
        run(*new, "-subj", "/CN=server", "-keyout", place / "tls.key", "-out", place / "tls.crt", "-CA", place / "ca.pem",
            "-CAkey", self.folder / "ca.key", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE")
        (place / "tls.key").chmod(0o600)

    def test_runs_in_its_sandbox_and_comes_back_after_a_crash(self):
        if not shutil.which("systemd-nspawn"):
            self.skipTest("systemd-nspawn is not installed")
        self.install()
        units = self.root / "etc/systemd/system"
        self.make_certificates()
        (units / "duewheel.service.d").mkdir()
        (units / "duewheel.service.d/tls.conf").write_text("[Service]\nLoadCredential=tls.key:/etc/duewheel/tls.key\n")
        (self.root / "probe").write_text(PROBE)
        (self.root / "probe").chmod(0o755)
        (units / "probe.service").write_text(
            "[Unit]\nAfter=duewheel.service\n[Service]\nType=oneshot\nStandardOutput=append:/probe.out\n"
            "StandardError=append:/probe.err\nExecStart=/probe\nExecStopPost=systemctl poweroff --force --force\n")
        (units / "multi-user.target.wants/probe.service").symlink_to("../probe.service")
        boot = subprocess.run(["systemd-nspawn", "-q", "-D", self.root, "--boot", "--register=no", "--keep-unit",
                               "--private-network", "--console=pipe"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)
        if not (self.root / "probe.out").exists():
            self.skipTest(f"systemd does not run here: {(boot.stdout + boot.stderr).strip()[-200:]}")
        seen, errors = (self.root / "probe.out").read_text(), (self.root / "probe.err").read_text()
        self.assertTrue(seen.endswith("all is well\n"), seen + errors)
        self.assertIn("StatusText=Accepts requests at 127.0.0.1:7420.\n", seen)
        self.assertRegex(seen, r"Uid:\t[1-9]\d{4}\t")
        self.assertRegex(seen, r"CapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n")
        self.assertIn('"state":"scheduled"', seen)
        self.assertIn("NRestarts=1\n", seen)  # of the kill; a reload restarts nothing
        self.assertEqual(len(re.findall(r"(?m)^healthy$", seen)), 2)
        self.assertIn("data 700 directory\ndata 777 symbolic link\n", seen)
        self.assertIn("ExecMainStatus=0\n", seen)
        self.assertIn("Result=success\n", seen)


class Image(Debian):
    """packaging/Containerfile: built and run where an engine for containers is, else its steps are carried out here."""
    engine = next((name for name in ("podman", "docker") if shutil.which(name) and
                   subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0), None)

    def setUp(self):
        if not self.engine:
            super().setUp()

    def steps(self):
        """(word, argument) of each line."""
        text = re.sub(r"\\\n\s*", "", (ROOT / "packaging/Containerfile").read_text())
        return [tuple(line.split(" ", 1)) for line in text.splitlines() if line and not line.startswith("#")]

    @unittest.skipIf(engine, "the image is built")
    def test_its_steps_make_a_server_that_is_healthy(self):
        made = {}
        for word, argument in self.steps():
            if word == "ARG":
                self.assertRegex(argument, r"^BASE=debian:\w+-slim$")
            elif word == "FROM":
                self.assertEqual(argument, "${BASE}")
            elif word == "COPY":
                pattern, to = argument.split()
                for path in options.packages.glob(pattern):
                    shutil.copy(path, f"{self.root}{to}")
            elif word == "RUN":
                self.enter("sh", "-ec", argument)
            else:
                made[word] = argument
        self.assertEqual(set(made), {"USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"})
        user = made["USER"].split(":")[0]
        health = json.loads(made["HEALTHCHECK"].partition(" CMD ")[2])
        self.assertEqual((self.root / made["VOLUME"].lstrip("/")).stat().st_uid, int(user))
        with self.serving(user, *json.loads(made["ENTRYPOINT"])) as server:
            healthy = lambda code: run("chroot", f"--userspec={user}", self.root, *health, code=code,  # noqa: E731
                                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DUEWHEEL_SERVER": server.url})
            self.assertEqual(healthy(0), "healthy\n")
            server("put", "mail", "hello")
            self.assertEqual(made["STOPSIGNAL"], "SIGTERM")
            self.assertEqual(server.stop(), 0)
            healthy(3)
        self.assertTrue(any((self.root / made["VOLUME"].lstrip("/")).iterdir()))

    @unittest.skipUnless(engine, "neither podman nor docker runs here: its steps are carried out in a chroot")
    def test_builds_and_runs(self):
        name = f"duewheel-test-{os.getpid()}"
        run(self.engine, "build", "-t", name, "-f", ROOT / "packaging/Containerfile", options.packages)
        self.addCleanup(run, self.engine, "rmi", "-f", name)
        run(self.engine, "run", "-d", "--name", name, name)
        self.addCleanup(run, self.engine, "rm", "-f", "-v", name)
        run(self.engine, "exec", name, "sh", "-c",
            "n=0; until duewheel health; do n=$((n + 1)); [ $n -lt 600 ] || exit 1; sleep 0.1; done")
        run(self.engine, "exec", name, "duewheel", "put", "mail", "hello")
        run(self.engine, "stop", name)
        self.assertEqual(run(self.engine, "inspect", "-f", "{{.State.ExitCode}}", name).strip(), "0")


if __name__ == "__main__":
    os.environ.update(compiled_at())
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
