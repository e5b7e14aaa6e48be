"""The scripts of `duewheel completion`, in the shells that they are for: what a user sees who presses Tab. zsh and fish are
skipped where they are not installed.

Programs are found in the directory that DUEWHEEL_BIN names.
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ["DUEWHEEL_BIN"]) / "duewheel"


def help_of(*command):
    return subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands_of(*group):
    section = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_of(*group), re.MULTILINE)
    return re.findall(r"^  (\w+)", section[1], re.MULTILINE) if section else []


def all_commands():
    for name in commands_of():
        yield (name,)
        for below in commands_of(name):
            yield (name, below)


def options_of(*command):
    """Those of the command and those of the program, which may stand behind it."""
    terms = (re.findall(r"^  (?:-\w,)?(--[\w,-]+)", text, re.MULTILINE) for text in (help_of(*command), help_of()))
    own, of_program = ({name for term in found for name in term.split(",")} for found in terms)
    return own | of_program - {"--version"}


class Shell:
    """Completion as one shell does it; `complete` returns the candidates for the last word of a line."""

    def setUp(self):
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        temporary = tempfile.TemporaryDirectory(prefix="duewheel-completion-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.script = self.directory / "script"
        self.script.write_bytes(subprocess.run([PROGRAM, "completion", self.shell], capture_output=True, check=True).stdout)
        (self.directory / "here.ndjson").write_text("")
        (self.directory / "folder").mkdir()

    def test_completes_commands(self):
        self.assertEqual(self.complete("duewheel "), set(commands_of()))
        self.assertEqual(self.complete("duewheel sch"), {"schedule"})
        self.assertEqual(self.complete("duewheel queue "), set(commands_of("queue")))
        self.assertEqual(self.complete("duewheel queue re"), {"redrive", "resume"})
        self.assertEqual(self.complete("duewheel schedule un"), set())

    def test_completes_commands_behind_options_of_the_program(self):
        self.assertEqual(self.complete("duewheel --json clock a"), {"accept", "advance"})
        # The value of an option is no command, whatever its name.
        self.assertEqual(self.complete("duewheel --namespace queue clock a"), {"accept", "advance"})

    def test_completes_the_options_of_a_command(self):
        self.assertEqual(self.complete("duewheel put --order"), {"--order-key"})
        self.assertEqual(self.complete("duewheel clock advance --by 1h --t"), {"--to", "--token-file", "--tz"})
        self.assertEqual(self.complete("duewheel queue --js"), {"--json"})

    def test_completes_files_and_directories(self):
        self.assertEqual(self.complete("duewheel put mail --ndjson here"), {"here.ndjson"})
        self.assertEqual(self.complete("duewheel import her"), {"here.ndjson"})
        self.assertEqual({name.rstrip("/") for name in self.complete("duewheel check fol")}, {"folder"})
        self.assertEqual(self.complete("duewheel check her"), set())

    def test_offers_nothing_for_what_only_the_user_knows(self):
        self.assertEqual(self.complete("duewheel put mail --in "), set())
        self.assertEqual(self.complete("duewheel put "), set())


class Bash(Shell, unittest.TestCase):
    shell = "bash"

    def complete(self, line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        run = subprocess.run(
            ["bash", "--norc", "-c", f". '{self.script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _duewheel; "
             'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, cwd=self.directory, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return set(filter(None, run.stdout.split("\n")))

    def test_is_registered_for_the_program(self):
        run = subprocess.run(["bash", "--norc", "-c", f". '{self.script}'; complete -p duewheel"], capture_output=True, text=True)
        self.assertEqual(run.stdout.strip(), "complete -F _duewheel duewheel")

    def test_knows_every_command_and_option_of_the_help(self):
        for command in all_commands():
            line = "duewheel " + " ".join(command)
            with self.subTest(line=line):
                self.assertEqual({name for name in self.complete(line + " --")}, options_of(*command))


class Fish(Shell, unittest.TestCase):
    shell = "fish"

    def complete(self, line):
        run = subprocess.run(["fish", "--no-config", "-c", f"source {self.script}; complete -C '{line}'"], capture_output=True,
                             text=True, cwd=self.directory, timeout=60, env={**os.environ, "HOME": str(self.directory)})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return {candidate.split("\t")[0] for candidate in run.stdout.splitlines()}


class Zsh(Shell, unittest.TestCase):
    """zsh completes only at a terminal: it gets one, and lists the candidates, one a line."""
    shell = "zsh"

    def start(self):
        functions = self.directory / "functions"
        functions.mkdir()
        shutil.copy(self.script, functions / "_duewheel")
        (self.directory / ".zshrc").write_text(
            f"fpath=({functions} $fpath)\nautoload -U compinit\ncompinit -u -d {self.directory}/dump\n"
            "zmodload zsh/complist\nunsetopt zle_bracketed_paste 2>/dev/null\nsetopt no_always_last_prompt\n"
            "PROMPT='ready> '\nRPROMPT=\nunset zle_bracketed_paste\n"
            # Tab writes what can be completed into a file, and leaves the line alone.
            "candidates() {\n    compadd() {\n"
            "        if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd \"$@\"; return; fi\n"
            "        local -a found\n        builtin compadd -O found \"$@\"\n"
            f"        (( $#found )) && print -rl -- $found >> {self.directory}/candidates\n"
            "        builtin compadd \"$@\"\n    }\n    _main_complete\n    unfunction compadd\n"
            f"    : > {self.directory}/done\n}}\n"
            "zle -C candidates complete-word candidates\nbindkey '^I' candidates\n")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.directory)
            os.execvpe("zsh", ["zsh", "-d", "-i"], {"PATH": os.environ["PATH"], "HOME": str(self.directory),
                                                    "ZDOTDIR": str(self.directory), "TERM": "dumb", "LC_ALL": "C.UTF-8"})
        return process, terminal

    def complete(self, line):
        shutil.rmtree(self.directory / "functions", ignore_errors=True)
        candidates, done = self.directory / "candidates", self.directory / "done"
        candidates.unlink(missing_ok=True)
        done.unlink(missing_ok=True)
        process, terminal = self.start()
        seen, by = b"", time.monotonic() + 60
        try:
            while not done.exists() and time.monotonic() < by:
                if select.select([terminal], [], [], 0.01)[0]:
                    asked = b"ready> " in seen
                    seen += os.read(terminal, 4096)
                    if b"ready> " in seen and not asked:
                        os.write(terminal, line.encode() + b"\t")
        finally:
            os.kill(process, 9)
            os.waitpid(process, 0)
            os.close(terminal)
        self.assertTrue(done.exists(), seen.decode(errors="replace"))
        return set(candidates.read_text().splitlines()) if candidates.exists() else set()


if __name__ == "__main__":
    unittest.main(verbosity=2)
