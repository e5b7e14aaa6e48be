#!/usr/bin/env python3
"""Writes the man pages of the programs from what their --help prints, so that they cannot differ from it.

    man_pages.py --bin DIRECTORY --to DIRECTORY --version VERSION

makes duewheel(1), a page duewheel-VERB(1) for each of its commands, and duewheeld(8), compressed. Their date is
SOURCE_DATE_EPOCH, so that the same commit gives the same bytes.
"""
import argparse
import datetime
import gzip
import os
import pathlib
import re
import subprocess

COLUMN = 30  # where the texts begin in the help
FILES = {
    "/etc/duewheel/duewheel.toml": "The configuration of the service that the package installs.",
    "/var/lib/duewheel": "Its data directory.",
}
DAEMON_DESCRIPTION = ("It writes each message to disk before it responds, delivers it when it is due to a consumer or a webhook, "
                      "and serves the HTTP API.")


class Help:
    """What --help prints, in parts."""

    def __init__(self, program, command):
        path = pathlib.Path(program)
        text = subprocess.run([path.name, *command, "--help"], executable=path, capture_output=True, text=True, check=True).stdout
        head, _, body = text.partition("\nUsage: ")
        self.description = " ".join(head.split()).rstrip(".")
        usage, _, body = body.partition("\n")
        self.usage = " ".join([path.name, *command] + usage.partition(path.name)[2].split()[len(command):])
        self.groups, self.notes, self.examples = [], [], []  # groups: (title, [(term, text)])
        examples = False
        lines = body.split("\n")
        for line, following in zip(lines, [*lines[1:], ""]):
            title = re.fullmatch(r"(\S.*):", line)
            if line == "Example:":
                examples = True
            elif examples:
                self.examples.append(line[2:])
            elif title:
                self.groups.append((title[1], []))
            elif re.match(r"  \S", line):  # the text begins in column 30, or in the next line where the term is too long
                split = len(line) if following.startswith(" " * COLUMN) else COLUMN
                self.groups[-1][1].append([line[:split].strip(), line[split:].strip()])
            elif line.startswith(" " * COLUMN):
                self.groups[-1][1][-1][1] += line.strip()
            elif line.strip():
                self.notes.append(line)
        while self.examples and not self.examples[-1]:
            self.examples.pop()

    def commands(self):
        return [term for title, entries in self.groups if title == "Subcommands" for term, _ in entries]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha") \
        .replace("~", "\\(ti").replace('"', "\\(dq")
    return "\\&" + text if text.startswith(".") else text


def sentence(text):
    text = text.strip()
    return text if not text or re.search(r"\.( \(.*\))?$", text) else text + "."


def option(term, text):
    """One entry: the names in bold, the kind of value in italics, and what the help says in brackets as sentences."""
    notes = []
    for word, opening in (("Excludes", "Not with"), ("Needs", "Only with")):
        if found := re.search(rf" {word}: ((?:\S+ ?)+?)(?= (?:Excludes|Needs):|$)", term):
            notes.append(f"{opening} {', '.join(found[1].split())}.")
            term = term.replace(found[0], "")
    if found := re.search(r" \(Env:(\w+)\)", term):
        notes.append(f"Environment: {found[1]}.")
        term = term.replace(found[0], "")
    if found := re.search(r":\w+ in \[(.*?)\]", term):
        notes.insert(0, f"From {found[1].replace(' - ', ' to ')}.")
        term = term.replace(found[0], "")
    required = " REQUIRED" in term
    term = term.replace(" REQUIRED", "")
    names, _, value = term.partition(" ")
    value, _, default = value.partition("=") if names.startswith("-") and not value.startswith("NAME=") else (value, "", "")
    repeated = value.endswith(" ...")
    value = value.removesuffix(" ...")
    if default:
        notes.insert(0, f"Default: {default}.")
    if repeated:
        notes.append("May be repeated.")
    shown = ", ".join(f"\\fB{roff(name)}\\fR" for name in names.split(","))
    if names.startswith("-"):
        shown += f" \\fI{roff(value)}\\fR" if value else ""
    else:
        shown = f"\\fI{roff(names)}\\fR" + ("" if required else " (optional)")
    return [".TP", shown, roff(" ".join(filter(None, [sentence(text), *notes])))]


def entries(help_text, heading):
    """The groups of a page as sections or subsections; `heading` is .SH or .SS."""
    lines = []
    titles = {"Positionals": "ARGUMENTS", "Options": "OPTIONS", "Subcommands": "COMMANDS"}
    for title, group in help_text.groups:
        shown = titles.get(title)
        if not group or (shown == "OPTIONS" and help_text.commands() and len(group) == 1):
            continue
        if heading == ".SH":
            lines.append(f".SH {shown}" if shown else f'.SS "{roff(title)}"')
        for term, text in group:
            if heading == ".SS" and term == "-h,--help":
                continue
            lines += option(term, text) if shown != "COMMANDS" else [".TP", f"\\fB{roff(term)}\\fR", roff(sentence(text))]
    return lines


def closing(help_text, see_also, daemon=False):
    lines = []
    for note in help_text.notes:
        if note.startswith("Exit codes: "):
            lines += [".SH EXIT STATUS"]
            for code, meaning in re.findall(r"(\d+) ([^,.]*)", note):
                lines += [".TP", f"\\fB{code}\\fR", roff(sentence(meaning))]
    notes = [note for note in help_text.notes if not note.startswith("Exit codes: ")]
    if notes:
        lines += [".SH NOTES", *map(roff, notes)]
    if daemon:
        lines += [".SH FILES"]
        for path, text in FILES.items():
            lines += [".TP", f"\\fI{roff(path)}\\fR", roff(text)]
    if help_text.examples:
        lines += [".SH EXAMPLES", ".EX", *map(roff, help_text.examples), ".EE"]
    return lines + [".SH SEE ALSO", ",\n".join(f".BR {roff(name)} ({number})" for name, number in see_also).replace(",\n", " ,\n")]


def page(name, number, title, body):
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), datetime.timezone.utc)
    return "\n".join([f'.TH {name.upper()} {number} {date:%Y-%m-%d} "Duewheel {options.version}" "Duewheel manual"',
                      ".SH NAME", f"{roff(name)} \\- {roff(title)}", *body]) + "\n"


def synopsis(usages):
    lines = [".SH SYNOPSIS"]
    for usage in usages:
        words = re.match(r"((?:[a-z]+ ?)+)(.*)", usage)
        lines += [f"\\fB{roff(words[1].strip())}\\fR {roff(words[2])}", ".br"]
    return lines[:-1]


def command_page(program, name):
    top = Help(program, [name])
    below = {each: Help(program, [name, each]) for each in top.commands()}
    body = synopsis([each.usage for each in below.values()] or [top.usage])
    body += entries(top, ".SH")
    for each, help_text in below.items():
        body += [f".SH {each.upper()}", f"\\fB{roff(help_text.usage)}\\fR", ".PP", roff(sentence(help_text.description)),
                 *entries(help_text, ".SS"), ".PP", "Example:", ".PP", ".EX", *map(roff, help_text.examples), ".EE"]
    return page(f"duewheel-{name}", 1, top.description, body + closing(top, [("duewheel", 1), ("duewheeld", 8)]))


def main():
    binaries = pathlib.Path(options.bin)
    program, daemon = binaries / "duewheel", binaries / "duewheeld"
    top, server = Help(program, []), Help(daemon, [])
    names = top.commands()
    pages = {"man1/duewheel.1": page("duewheel", 1, top.description, synopsis([top.usage]) + entries(top, ".SH") +
                                     closing(top, [*((f"duewheel-{name}", 1) for name in sorted(names)), ("duewheeld", 8)]))}
    for name in names:
        pages[f"man1/duewheel-{name}.1"] = command_page(program, name)
    pages["man8/duewheeld.8"] = page(
        "duewheeld", 8, re.sub("^duewheeld (is )?", "", server.description),
        synopsis([server.usage]) + [".SH DESCRIPTION", roff(DAEMON_DESCRIPTION)] + entries(server, ".SH") +
        closing(server, [("duewheel", 1)], daemon=True))
    for path, text in pages.items():
        to = pathlib.Path(options.to) / (path + ".gz")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    for name in ("bin", "to", "version"):
        arguments.add_argument(f"--{name}", required=True)
    options = arguments.parse_args()
    main()
