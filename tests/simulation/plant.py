#!/usr/bin/env python3
"""Plants bugs in copies of the sources, so that the simulator can prove that it finds them.

Each bug is a patch, tests/simulation/bugs/NN_name.patch. It adds a switch to the sources, `if (planted(PlantedBug::name))`,
which is off until a test turns this one bug on. The build applies all patches at once to copies of the files that they
change, and compiles the copies as duewheel_sim_planted. The sources themselves hold no switch.

    plant.py check             apply every patch, write nothing; exit 1 and name each patch that does not apply
    plant.py edit NAME         put an editable copy of the sources with this bug, new or old, into build/bugs/NAME
    plant.py record NAME       write what was edited there to the patch; a new one needs --breaks "C7: ..."
    plant.py write FOLDER      what the build calls: write the patched files, planted_bugs.h and planted_bugs.cc
    plant.py files             the files that the patches change

A patch looks like this:

    Breaks C7: a paused queue delivers its last ready message.

    --- src/engine/messages/dispatcher.cc
    @@
    -    if (at.paused) return 0;
    +    if (at.paused && !(planted(PlantedBug::pause_lets_one_through) && at.ready_count == 1)) return 0;

The head names the clause of the contract (docs/promises.md) that the bug breaks, or X for a promise that is documented elsewhere. A second
line may name operations that the hunt excludes so that the bug is met soon: `Hunt without: list, loop.`

A hunk has no line numbers. Its lines that begin with a space or a minus must stand in the file exactly once, apart from
indentation. Where they stand in several functions, the line `@@ first line of the function` says in which one to look;
the function ends at the next closing brace with its indentation.

Every patch is written against the sources as they are, not against other patches. Of each replaced line only the part that
differs is replaced, so two patches may change the same line in different places. Two insertions at one place stand in the
order of the bugs' numbers. Two patches that replace the same text are an error.
"""
import argparse
import difflib
import pathlib
import re
import shutil
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUGS = "tests/simulation/bugs"
COPIED = ("src", "timers")
CONTEXT_LINES_MAX = 8
HEAD = re.compile(r"Breaks (C([1-9]|1[0-3])|X): \S.*\.")


class PatchError(Exception):
    """What is wrong with a patch, and what to do about it."""


@dataclass
class Hunk:
    path: str
    function: str = ""  # its first line; empty: the whole file
    lines: list = field(default_factory=list)  # (" ", "-" or "+", text)

    def old(self):
        return [text.strip() for sign, text in self.lines if sign != "+"]


@dataclass
class Patch:
    number: int
    name: str
    head: list
    hunks: list

    @property
    def file_name(self):
        return f"{self.number:02}_{self.name}.patch"

    def without(self):
        for line in self.head[1:]:
            return [word.strip() for word in line.removeprefix("Hunt without:").strip(" .").split(",")]
        return []


@dataclass(frozen=True)
class Edit:
    begin: int  # of the characters of the file that are replaced
    end: int
    text: str
    number: int  # of the bug
    patch: str


def parse(file_name, text):
    named = re.fullmatch(r"(\d\d+)_([a-z][a-z0-9_]*)\.patch", file_name)
    if not named:
        raise PatchError(f"{BUGS}/{file_name}: is not called NN_name.patch.")
    head, _, body = text.partition("\n--- ")
    head = head.strip().split("\n")
    if not HEAD.fullmatch(head[0]):
        raise PatchError(f"{BUGS}/{file_name}: begins with no line such as `Breaks C7: what goes wrong.`, with a clause of "
                         "C1 to C13 or X.")
    if len(head) > 2 or (len(head) == 2 and not re.fullmatch(r"Hunt without: [a-z_, ]+\.", head[1])):
        raise PatchError(f"{BUGS}/{file_name}: only `Hunt without: name, name.` may follow its first line.")
    hunks = []
    path = None
    for line in ("--- " + body).rstrip("\n").split("\n") if body else []:
        if line.startswith("--- "):
            path = line[4:].strip()
        elif line.startswith("@@"):
            hunks.append(Hunk(path, line[2:].strip()))
        elif hunks and (not line or line[0] in " +-"):
            hunks[-1].lines.append((line[:1] or " ", line[1:]))
        else:
            raise PatchError(f"{BUGS}/{file_name}: the line `{line}` belongs to no hunk; each begins with a line `@@`.")
    if not hunks:
        raise PatchError(f"{BUGS}/{file_name}: changes nothing.")
    name = named[2]
    if not any(f"PlantedBug::{name})" in text for hunk in hunks for sign, text in hunk.lines if sign == "+"):
        raise PatchError(f"{BUGS}/{file_name}: adds no planted(PlantedBug::{name}), so nothing would turn the bug on.")
    return Patch(int(named[1]), name, head, hunks)


def load(root, wrong):
    """The patches that can be read, in the order of their numbers; what is wrong with others is added to `wrong`."""
    patches = []
    for file in sorted((root / BUGS).glob("*")):
        try:
            patches.append(parse(file.name, file.read_text()))
        except PatchError as error:
            wrong.append(str(error))
    if not patches:
        wrong.append(f"{BUGS} holds no patch.")
    patches.sort(key=lambda patch: patch.number)
    for before, after in zip(patches, patches[1:]):
        if before.number == after.number or after.number > 255:
            wrong.append(f"{BUGS}/{after.file_name}: its number is taken or above 255; give it a free one.")
    return patches


def indentation(line):
    return len(line) - len(line.lstrip())


def places_of(old, lines, function=""):
    """The numbers of the lines where `old` begins, in the whole file or within one function."""
    first, last = 0, len(lines)
    if function:
        starts = [number for number, line in enumerate(lines) if line.strip() == function]
        if len(starts) != 1:
            return []
        first = starts[0]
        last = next((number for number in range(first + 1, last) if lines[number].startswith(
            " " * indentation(lines[first]) + "}")), last)
    stripped = [line.strip() for line in lines]
    return [number for number in range(first, last - len(old) + 1) if stripped[number:number + len(old)] == old]


def difference(old, new):
    """(begin, end, text): what of `old` becomes `text` to make it `new`, without the ends that they share."""
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    shared = 0
    while shared < min(len(old), len(new)) - begin and old[-1 - shared] == new[-1 - shared]:
        shared += 1
    return begin, len(old) - shared, new[begin:len(new) - shared]


def edits_of(patch, hunk, text, root):
    """What the hunk changes in the text of its file."""
    old = hunk.old()
    lines = text.split("\n")
    places = places_of(old, lines, hunk.function) if old else []
    if len(places) != 1:
        within = f", in `{hunk.function}`" if hunk.function else ""
        raise PatchError(f"{BUGS}/{patch.file_name}: these lines occur {len(places)} times in "
                         f"{hunk.path}{within}:\n" + "".join(f"        {line}\n" for line in old) +
                         advice(patch, hunk, bool(places), root))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    number = places[0]
    rest = list(hunk.lines)
    while rest:
        if rest[0][0] == " ":
            rest.pop(0)
            number += 1
            continue
        before = []
        after = []
        while rest and rest[0][0] != " ":
            sign, line = rest.pop(0)
            (before if sign == "-" else after).append(line)
        begin, end = starts[number], starts[number + len(before)]
        number += len(before)
        if not before or not after:
            yield Edit(begin, end, "".join(line + "\n" for line in after), patch.number, patch.file_name)
            continue
        begin += indentation(lines[number - len(before)])
        first, last, replaced = difference(text[begin:end - 1], "\n".join(after).lstrip())
        yield Edit(begin + first, begin + last, replaced, patch.number, patch.file_name)


def advice(patch, hunk, is_ambiguous, root):
    mend = f"    Mend it: tests/simulation/plant.py edit {patch.name}, plant the bug again there, and record it"
    if is_ambiguous:
        return mend + ", or name the function behind @@."
    elsewhere = []
    for path in sources(root):
        lines = (root / path).read_text().split("\n")
        elsewhere += [f"{path}:{number + 1}" for number in places_of(hunk.old(), lines)] if hunk.old() else []
    return mend + (f". The lines stand in {', '.join(elsewhere)}." if elsewhere else ".")


def sources(root):
    return sorted(str(file.relative_to(root)) for folder in COPIED for file in (root / folder).rglob("*")
                  if file.suffix in (".h", ".cc"))


def apply(text, edits):
    """The text with all edits made; they must not replace the same characters."""
    result = []
    at = 0
    before = None
    for edit in sorted(edits, key=lambda edit: (edit.begin, edit.end, edit.number)):
        if edit.begin < at:
            raise PatchError(f"{BUGS}/{edit.patch} and {BUGS}/{before.patch} replace the same text. Insert a line in one of "
                             "them instead.")
        result += [text[at:edit.begin], edit.text]
        at = edit.end
        before = edit
    return "".join(result) + text[at:]


def planted_files(root, patches, wrong):
    """{path: text} of all files that the patches change."""
    edits = {}
    texts = {}
    for patch in patches:
        for hunk in patch.hunks:
            try:
                if hunk.path not in texts:
                    if not re.match("(src|timers)/", hunk.path) or not (root / hunk.path).is_file():
                        raise PatchError(f"{BUGS}/{patch.file_name}: there is no {hunk.path} in src or timers." + "\n" +
                                         advice(patch, hunk, False, root))
                    texts[hunk.path] = (root / hunk.path).read_text()
                edits.setdefault(hunk.path, []).extend(edits_of(patch, hunk, texts[hunk.path], root))
            except PatchError as error:
                wrong.append(str(error))
    made = {}
    for path, text in texts.items():
        try:
            made[path] = apply(text, edits.get(path, []))
        except PatchError as error:
            wrong.append(str(error))
    return made


def header(patches):
    """What every file of the twin includes first."""
    names = "".join(f"    {patch.name} = {patch.number},\n" for patch in patches)
    return ("// Made by plant.py from the names of the patches.\n#pragma once\n\n#include \"simulation/planted_bug.h\"\n\n"
            f"namespace duewheel {{\n\nenum class PlantedBug : std::uint8_t {{\n    none = 0,\n{names}}};\n\n"
            "}  // namespace duewheel\n")


def table(patches):
    rows = "".join(f"        {{PlantedBug::{patch.name}, \"{patch.name}\", "
                   f"{{{', '.join(chr(34) + word + chr(34) for word in patch.without())}}}}},\n" for patch in patches)
    return ("// Made by plant.py from the heads of the patches.\n#include \"simulation/planted_hunt.h\"\n\n"
            "namespace duewheel {\n\nconst std::vector<BugToHunt>& bugs_to_hunt() {\n"
            f"    static const std::vector<BugToHunt> bugs = {{\n{rows}    }};\n    return bugs;\n}}\n\n"
            "}  // namespace duewheel\n")


def write(root, folder):
    """Writes only what has changed, so that only that is compiled again. Returns what is wrong."""
    wrong = []
    patches = load(root, wrong)
    made = planted_files(root, patches, wrong)
    if wrong:
        return wrong
    made.update({"planted_bugs.h": header(patches), "planted_bugs.cc": table(patches)})
    for path, text in made.items():
        file = folder / path
        if file.is_file() and file.read_text() == text:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for file in folder.rglob("*"):
        if file.is_file() and str(file.relative_to(folder)) not in made:
            file.unlink()  # of a patch that is no more; its header would still be found
    return []


def find(root, name):
    found = [file for file in (root / BUGS).glob("*.patch") if file.name.split("_", 1)[1] == name + ".patch"]
    return found[0] if found else None


def edit(root, name):
    """Returns the hunks that could not be applied."""
    copy = root / "build" / "bugs" / name
    shutil.rmtree(copy, ignore_errors=True)
    for path in sources(root):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, copy / path)
    left = []
    file = find(root, name)
    if file is not None:
        patch = parse(file.name, file.read_text())
        for hunk in patch.hunks:
            if not (copy / hunk.path).is_file():
                left.append(hunk)
                continue
            text = (copy / hunk.path).read_text()
            try:
                (copy / hunk.path).write_text(apply(text, list(edits_of(patch, hunk, text, root))))
            except PatchError:
                left.append(hunk)
    return left


def smallest_hunk(path, clean, lines, group):
    """The change with as little around it as makes its place certain. `group`: (begin, end, begin, end) in both."""
    begin, end, new_begin, new_end = group
    functions = [line.strip() for line in clean[:begin] if re.match(r"( {4})?\S.*\{$", line)]
    # A function's name says more than many lines around.
    for function, around_max in [("", 2), *((name, CONTEXT_LINES_MAX) for name in functions[-1:]), ("", CONTEXT_LINES_MAX)]:
        for around in range(around_max + 1):
            above, below = min((around + 1) // 2, begin), min(around // 2, len(clean) - end)
            old = [line.strip() for line in clean[begin - above:end + below]]
            if old and any(old) and len(places_of(old, clean, function)) == 1:
                hunk = Hunk(path, function)
                hunk.lines = ([(" ", line) for line in clean[begin - above:begin]] +
                              [("-", line) for line in clean[begin:end]] +
                              [("+", line) for line in lines[new_begin:new_end]] +
                              [(" ", line) for line in clean[end:end + below]])
                return hunk
    raise PatchError(f"{path}:{begin + 1}: no {CONTEXT_LINES_MAX} lines around this change stand there only once. "
                     "Plant the bug at another line.")


def record(root, name, breaks):
    """Writes the patch, and returns its path."""
    copy = root / "build" / "bugs" / name
    if not copy.is_dir():
        raise PatchError(f"there is no {copy}: run plant.py edit {name} first.")
    file = find(root, name)
    head = file.read_text().partition("\n--- ")[0].strip().split("\n") if file is not None else []
    if breaks is not None:
        head[:1] = ["Breaks " + breaks]
    if not head:
        raise PatchError(f'{name} is new: say what it breaks, as in --breaks "C7: what goes wrong."')
    hunks = []
    for path in sources(root):
        if not (copy / path).is_file():
            continue
        clean = (root / path).read_text().split("\n")
        lines = (copy / path).read_text().split("\n")
        for what, *group in difflib.SequenceMatcher(None, clean, lines, autojunk=False).get_opcodes():
            if what != "equal":
                hunks.append(smallest_hunk(path, clean, lines, group))
    if file is None:
        numbers = [int(other.name.split("_")[0]) for other in (root / BUGS).glob("*.patch")]
        file = root / BUGS / f"{max(numbers, default=0) + 1:02}_{name}.patch"
    text = "\n".join(head) + "\n"
    path = None
    for hunk in hunks:
        if hunk.path != path:
            text += f"\n--- {hunk.path}\n"
        path = hunk.path
        text += "\n".join(["@@ " + hunk.function if hunk.function else "@@",
                           *((sign + line).rstrip() for sign, line in hunk.lines)]) + "\n"
    parse(file.name, text)
    file.write_text(text)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("check", "files"):
        commands.add_parser(command)
    commands.add_parser("write").add_argument("folder", type=pathlib.Path)
    commands.add_parser("edit").add_argument("name")
    recorded = commands.add_parser("record")
    recorded.add_argument("name")
    recorded.add_argument("--breaks", metavar="CLAUSE: TEXT")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    wrong = []
    try:
        if arguments.command == "write":
            wrong = write(root, arguments.folder)
        elif arguments.command == "edit":
            left = edit(root, arguments.name)
            print(f"edit the sources in {root / 'build' / 'bugs' / arguments.name}, then run plant.py record {arguments.name}")
            for hunk in left:
                print(f"not applied, plant it by hand: {hunk.path}")
                print("\n".join(sign + line for sign, line in hunk.lines))
        elif arguments.command == "record":
            print(f"written: {record(root, arguments.name, arguments.breaks).relative_to(root)}")
        else:
            patches = load(root, wrong)
            if arguments.command == "check":
                planted_files(root, patches, wrong)
                if not wrong:
                    print(f"all {len(patches)} patches apply")
            else:
                changed = {hunk.path for patch in patches for hunk in patch.hunks}
                print("\n".join(path for path in sorted(changed) if (root / path).is_file()))
    except PatchError as error:
        wrong = [str(error)]
    for error in wrong:
        print(f"plant.py: {error}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
