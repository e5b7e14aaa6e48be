"""The settings of the real daemon: precedence, refusals with their text, and output."""

import os
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest

from daemon import BIN, Daemon

EXIT_USAGE = 2


def duewheeld(*arguments, file=None, environment=None):
    """Runs the daemon where it is to end by itself. `file`: the text of a duewheel.toml in the directory it runs in."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("DUEWHEEL_")}
    with tempfile.TemporaryDirectory(prefix="duewheel-test-") as directory:
        if file is not None:
            with open(os.path.join(directory, "duewheel.toml"), "w") as toml:
                toml.write(file)
        return subprocess.run([BIN / "duewheeld", *arguments], capture_output=True, text=True, timeout=60,
                              cwd=directory, env={**clean, **(environment or {})})


def named(table, section=""):
    """{"kafka.in.topics": value}"""
    values = {}
    for key, value in table.items():
        values.update(named(value, f"{section}{key}.") if isinstance(value, dict) else {section + key: value})
    return values


def in_force(*arguments, **how):
    """{setting: (value, where it comes from)}"""
    run = duewheeld("--print-config", *arguments, **how)
    assert run.returncode == 0, run.stderr
    origins = {}
    section = ""
    for line in run.stdout.splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif line and not line.startswith("#"):
            origins[section + line.split(" = ")[0]] = line.rsplit("  # ", 1)[1]
    values = named(tomllib.loads(run.stdout))
    assert values.keys() == origins.keys()
    return {name: (value, origins[name]) for name, value in values.items()}


class Precedence(unittest.TestCase):
    FILE = '[http]\nidle_timeout = "2s"\nconnections_max = 2\nbody_max = "2MiB"\n'

    def test_a_flag_wins_over_the_environment_and_that_over_the_file(self):
        settings = in_force("--config", "duewheel.toml", "--http-body-max", "4MiB", file=self.FILE,
                            environment={"DUEWHEEL_HTTP_CONNECTIONS_MAX": "3", "DUEWHEEL_HTTP_BODY_MAX": "3MiB"})
        self.assertEqual(settings["http.idle_timeout"], ("2s", "duewheel.toml:2"))
        self.assertEqual(settings["http.connections_max"], (3, "DUEWHEEL_HTTP_CONNECTIONS_MAX"))
        self.assertEqual(settings["http.body_max"], ("4MiB", "--http-body-max"))
        self.assertEqual(settings["http.unsent_max"], ("256MiB", "default"))

    def test_a_section_may_be_within_another(self):
        file = '[kafka]\nbootstrap = "127.0.0.1:9092"\n[kafka.in]\ntopics = ["a=b"]\n'
        settings = in_force("--config", "duewheel.toml", file=file, environment={"DUEWHEEL_KAFKA_IN_ERRORS": "wrong.ones"})
        self.assertEqual(settings["kafka.bootstrap"], ("127.0.0.1:9092", "duewheel.toml:2"))
        self.assertEqual(settings["kafka.in.topics"], (["a=b"], "duewheel.toml:4"))
        self.assertEqual(settings["kafka.in.errors"], ("wrong.ones", "DUEWHEEL_KAFKA_IN_ERRORS"))

    def test_the_environment_may_name_the_file(self):
        settings = in_force(file=self.FILE, environment={"DUEWHEEL_CONFIG": "duewheel.toml"})
        self.assertEqual(settings["http.idle_timeout"], ("2s", "duewheel.toml:2"))

    def test_a_file_that_is_not_configured_is_not_read(self):
        self.assertEqual(in_force(file=self.FILE)["http.idle_timeout"], ("1m15s", "default"))

    def test_yes_or_no_is_a_flag_by_itself_or_with_a_value(self):
        self.assertEqual(in_force("--unsafe-plain-listen")["unsafe_plain_listen"], (True, "--unsafe-plain-listen"))
        self.assertEqual(in_force("--unsafe-plain-listen=false", environment={"DUEWHEEL_UNSAFE_PLAIN_LISTEN": "true"})
                         ["unsafe_plain_listen"], (False, "--unsafe-plain-listen"))

    def test_the_server_does_what_the_file_says(self):
        with Daemon() as daemon:
            (daemon.directory / "duewheel.toml").write_text('[limits]\nbody_max = "1KiB"\nlease_max = "1m"\n')
            daemon.arguments = ["--config", "duewheel.toml"]
            daemon.start()
            client = daemon.client()
            self.assertEqual(client.put("q", "x" * 1024)[0], 201)
            self.assertEqual(client.put("q", "x" * 1025)[1]["code"], "body_too_large")
            status, problem = client.request("POST", "/v1/queues/q:lease", {"lease": "61s"})
            self.assertEqual((status, problem["code"]), (400, "lease_too_long"))
            self.assertIn("setting=limits.body_max value=", daemon.log_text())
            self.assertIn("origin=duewheel.toml:2", daemon.log_text())


# Settings whose flag has another name than theirs.
OWN_FLAGS = {"http.listen": "--http", "beanstalk.listen": "--beanstalk", "clock.test": "--test-clock", "shards.number": "--shard", "shards.count": "--shards"}


class Ends(unittest.TestCase):
    """What may be chosen works: everything at its least, and at its most, but for files that would fill the disk, and for
    shards, which need other servers."""

    def bounds(self):
        """{flag: (least, most)}, from the comments of what is printed."""
        found = {}
        section = choice = ""
        for line in duewheeld("--print-config").stdout.splitlines():
            if line.startswith("["):
                section = line.strip("[]") + "."
            elif line.startswith("#"):
                choice = re.search(r"Choose (\S+) to ([^ ,.]+)", line)
            elif line and choice:
                name = section + line.split(" = ")[0]
                found[OWN_FLAGS.get(name) or "--" + name.replace(".", "-").replace("_", "-")] = choice.groups()
                choice = None
        return found

    def check(self, arguments):
        with Daemon(arguments=arguments) as daemon:
            daemon.start()
            client = daemon.client()
            for number in range(200):
                status, answer = client.put("q", "x" * 500, delay_ms=number % 3 * 20)
                self.assertEqual(status, 201, answer)
            done = 0
            while done < 200:
                # The one lease that both ends allow. `limits.lease_default` at its minimum, 1 s, would end on a slow
                # machine before its ack.
                for message in client.request("POST", "/v1/queues/q:lease", {"lease": "30s"})[1]["messages"]:
                    self.assertEqual(client.ack(message["lease"])[1]["outcome"], "done")
                    done += 1
            daemon.kill()
            daemon.start()
            self.assertEqual(daemon.client().request("GET", "/v1/stats")[1]["pending"], 0)
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())

    def test_everything_at_its_least(self):
        bounds = self.bounds()
        self.assertGreater(len(bounds), 20)
        self.check([word for flag, (least, _) in bounds.items() for word in (flag, least)])

    def test_everything_at_its_most(self):
        self.check([word for flag, (_, most) in self.bounds().items() for word in (flag, most)
                    if not flag.startswith(("--store-", "--shard")) or flag == "--store-keep-outcomes"])


class Refused(unittest.TestCase):
    def expect(self, lines, *arguments, **how):
        run = duewheeld(*arguments, **how)
        self.assertEqual((run.stderr.splitlines(), run.returncode, run.stdout), (lines, EXIT_USAGE, ""))

    def test_every_error_of_a_file_is_told_with_line_and_column(self):
        self.expect([
            "duewheel.toml:2:1: unknown setting `dta`; did you mean `data`? See `duewheeld --help`.",
            "duewheel.toml:4:3: unknown setting `http.idle_timout`; did you mean `http.idle_timeout`? See `duewheeld --help`.",
            "duewheel.toml:5:18: `http.idle_timeout` must be a duration with a unit, such as \"30s\", not the number 60.",
            "duewheel.toml:6:19: `http.connections_max` is 0; choose 1 to 1000000.",
            "duewheel.toml:7:2: unknown section `stoer`; did you mean `store`? See `duewheeld --help`.",
        ], "--config", "duewheel.toml", file="# mine\ndta = 1\n[http]\n  idle_timout = 1\n  idle_timeout = 60\n"
                                            "connections_max = 0\n[stoer]\nx = 1\n")

    def test_a_file_that_cannot_be_read(self):
        for path in ("none.toml", "."):
            self.expect([f"{path}: cannot read the configuration file; check its path and permissions"],
                        "--config", path)

    def test_the_environment_and_flags_are_read_as_strictly(self):
        self.expect(["DUEWHEEL_LOG_LEVEL: `log.level` must be one of debug, info, warning or error, not \"loud\".",
                     "--store-segment-size: `store.segment_size` is 1500KiB; choose auto, or 1MiB to 1GiB, a multiple of 1MiB."],
                    "--store-segment-size", "1500KiB", environment={"DUEWHEEL_LOG_LEVEL": "loud"})
        self.expect(["duewheeld: unknown flag `--htpt`; did you mean `--http`? See `duewheeld --help`."], "--htpt", "x")
        self.expect(["duewheeld: unknown flag `--port`; did you mean `--http HOST:PORT`? See `duewheeld --help`."], "--port", "7420")
        self.expect(["duewheeld: unknown flag `--workers`; see `duewheeld --help`."], "--workers", "4")
        self.expect(["duewheeld: unexpected argument `start`; see `duewheeld --help`."], "start")

    def test_another_address_than_loopback(self):
        with tempfile.TemporaryDirectory() as data:
            run = duewheeld("--data", data, "--http", "0.0.0.0:0")
            self.assertEqual(run.returncode, EXIT_USAGE)
            self.assertIn("unsafe_plain_listen = true", run.stderr)
            self.assertEqual(os.listdir(data), [], "it was refused before anything was opened")


    # It named neither line nor column of the file: what was refused at the start was not told with its place.
    def test_a_host_that_is_none_is_told_with_its_place(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "duewheel.toml"
            file.write_text('[http]\nhosts = ["a.example", "http://b.example/x"]\n')
            printed = duewheeld("--print-config", "--config", str(file))
            self.assertRegex(printed.stderr, r'duewheel\.toml:2:9: "http://b\.example/x" in the setting .*\(bad_host\)\n$')
            start = duewheeld("--data", directory + "/data", "--http", "127.0.0.1:0", "--config", str(file))
            self.assertIn("duewheel.toml:2:9", start.stderr)


    def test_topics_that_make_no_sense_are_told_with_their_place(self):
        run = duewheeld("--print-config", "--config", "duewheel.toml",
                        file='[kafka]\nbootstrap = "127.0.0.1:9092"\n[kafka.in]\ntopics = ["a=b", "b=c"]\n')
        self.assertEqual(run.returncode, EXIT_USAGE)
        self.assertRegex(run.stderr, r"duewheel\.toml:4:10: the setting kafka\.in\.topics sends a to b, .*\(bad_kafka_setting\)\n$")

    def test_printing_refuses_what_the_start_would_refuse(self):
        # It once printed settings with which no server starts, and ended with 0.
        for arguments in (["--http", "0.0.0.0:0"], ["--http", "7420"], ["--http-hosts", "http://b.example/x"]):
            with tempfile.TemporaryDirectory() as data:
                start = duewheeld("--data", data, *arguments)
                printed = duewheeld("--print-config", *arguments)
                self.assertEqual((start.returncode, printed.returncode, printed.stdout), (EXIT_USAGE, EXIT_USAGE, ""))
                self.assertRegex(printed.stderr, r"^duewheeld: .+\n$")


class Help(unittest.TestCase):
    def test_names_every_setting(self):
        text = duewheeld("--help").stdout
        flags = 0
        for name in in_force():
            flag = OWN_FLAGS.get(name) or "--" + name.replace(".", "-").replace("_", "-")
            self.assertRegex(text, rf"(?m)^ +{flag}\b")
            flags += 1
        self.assertGreater(flags, 40)


if __name__ == "__main__":
    unittest.main(verbosity=2)
