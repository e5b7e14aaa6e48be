#!/usr/bin/env python3
"""Checks the rules of ARCHITECTURE.md that a compiler does not see: which module may include which, where code may read
the clock, sleep or start threads, how files are named, and that every source is built. It also checks pages: the code and
files that they name exist, and those that are clean stay in plain English. It reads text only, needs nothing but
Python's standard library, and takes seconds, so it runs as a test on every build.

    tools/check_tree.py [ROOT]      prints one line a finding, "path:line: [rule] what is wrong. What to do.", exits 1

It is no parser of C++: it looks at #include lines and at words outside comments and strings. What it cannot see (a
macro that hides a clock, a header that pulls in another) is left to review and to the tests. It knows no exceptions
by comment: an exception is a change of the tables below, where a reader sees all of them at once.
"""
import fnmatch
import os
import posixpath
import re
import sys
from dataclasses import dataclass

# Which module may include which; a path names the one header of that module that is open to the row. Each module may
# include itself. A folder of a module with a row of its own is no part of that module: a row names `kafka/client`, and not
# `kafka`. `include` stands for the public headers in timers/include/duewheel. They may include only each other, because
# nothing else is installed beside them. A module that may include wheel names `include` in its row too; base includes only
# the public header of results; a module that may include calendar may include the calendar's public headers. The rows down
# to `include` are the timer library, in timers/.
CALENDAR = ["calendar", *(f"duewheel/{name}.h" for name in (
    "cron_rule", "cron_schedule", "exclusion_calendar", "instant", "jitter", "repeating_interval", "zone"))]
LAYERS = {
    "shared": [],
    "wheel": ["shared", "include"],
    "schemes": ["shared", "wheel", "include"],
    "calendar": ["shared", "include"],
    "runtime": ["shared", "wheel", "calendar", "include"],
    "patterns": ["shared", "runtime", "include"],
    "examples": ["include", "schemes"],
    "include": [],
    "base": ["shared", "duewheel/status.h"],
    "net": ["shared", "base"],
    "load": ["shared", "base"],
    "kafka/client": ["shared", "base", "net"],
    "message": ["shared", "base", *CALENDAR],
    "resource": ["shared", "base", "message"],
    "access": ["shared", "base", "message", "calendar/instant_text.h"],
    "journal": ["shared", "base", "message"],
    "replication": ["shared", "base", "message", "journal", "kafka/client/kafka.h"],
    "store": ["shared", "base", "message", "resource", "journal/segment.h", "journal/segment_catalog.h", "journal/recovery.h", "journal/log_copy.h"],
    "engine": ["shared", "base", "wheel", "calendar", "message", "resource", "include", "journal/journal.h", "store/store.h"],
    "port": ["shared", "base", "message", "resource", "access", "engine"],
    "delivery": ["shared", "base", "message", "resource", "port", "engine/commands/command.h", "engine/commands/target_queue.h"],
    "webhooks": ["shared", "base", "message", "resource", "net", "port", "delivery", "engine/commands/command.h", "engine/commands/target_queue.h",
                 "engine/commands/refusals.h"],
    "http_api": ["shared", "base", *CALENDAR, "message", "resource", "access", "net", "engine", "port"],
    "kafka/in": ["shared", "base", "message", "resource", "engine", "http_api", "kafka/client/kafka.h"],
    "kafka/out": ["shared", "base", "message", "resource", "net", "port", "delivery", "engine/commands/command.h", "engine/core/fair_lines.h",
                  "kafka/client/kafka.h"],
    "beanstalk": ["shared", "base", "message", "resource", "net", "port", "engine/trial/trial_engine.h", "access/audit_port.h"],
    "transfer": ["shared", "base", *CALENDAR, "message", "resource", "store", "net/http/http_target.h", "journal/segment_catalog.h",
                 "journal/log_salvage.h", "journal/local_journal.h", "http_api"],
    "server": ["shared", "base", "wheel", "calendar", "message", "resource", "net", "journal", "replication", "store", "runtime", "engine", "port", "delivery",
               "webhooks", "kafka/client", "kafka/in", "kafka/out", "access", "http_api", "beanstalk", "include"],
    "configuration": ["shared", "base", *CALENDAR, "server/limits/limit.h", "server/limits/server_options.h"],
    "apps/duewheeld": ["shared", "base", "configuration", "server"],
    "apps/duewheel": ["shared", "base", *CALENDAR, "load", "message", "resource", "access", "net", "kafka/client", "journal", "store", "http_api",
                      "replication", "transfer", "configuration", "server/shard/shard_parts.h", "server/limits/kafka_options.h",
                      "server/node/kafka_topics.h"],
}

# Third-party headers and the only places for them. The tests that cross modules and the benchmarks may use any.
WALLS = [
    ("rocksdb/", r"src/store/", "keep RocksDB behind store/store.h"),
    ("boost/asio", r"src/net/|(src/(http_api|kafka/client|server|webhooks)|apps)/.*\.cc$|timers/include/duewheel/asio\.h$|"
                   r"timers/runtime/asio_test\.cc$", "go through a header of net/, or include it in a .cc file"),
    ("cctz/", r"timers/calendar/zone\.cc$", "use <duewheel/zone.h>, which needs no library once a zone is loaded"),
    ("toml++/", r"src/configuration/toml_text\.cc$", "go through configuration/toml_text.h"),
    ("curl/", r"src/(webhooks/webhook_client|net/http/http_client)\.cc$", "send through net/http/http_client.h or webhooks/webhook_client.h"),
    ("openssl/", r"src/access/.*\.cc$|src/webhooks/(header_cipher|webhook_signature|trusted_file)\.cc$"
     r"|src/net/(tls_(\w+\.cc|client_fixture\.h)|certificate_time\.h)$",
     "sign through webhooks/webhook_signature.h, hash through access/access_token_text.h, speak TLS through net/tls_session.h"),
    ("librdkafka/", r"src/kafka/client/kafka_(client|consumer|handle|producer)\.(h|cc)$", "go through kafka/client/kafka.h"),
    ("boost/json", r"src/(http_api|kafka/in|transfer)/|apps/", "map JSON in http_api, transfer or apps, where text becomes values"),
    ("boost/", r"(?!timers/|src/base/)|timers/include/duewheel/asio\.h$|timers/runtime/asio_test\.cc$",
     "the timer library builds without Boost: use the standard library"),
]

# Words that only some places may use. `where` says which files the rule looks at, `allowed` which of them are free.
WORDS = [
    ("clock", r"\b(clock_gettime|gettimeofday|timespec_get|\w+_clock\s*::\s*now)\b"
              r"|(?<![\w.>:])(?:std\s*::\s*|::\s*)?time\s*\(\s*(?:NULL|nullptr|0|&\s*\w+)\s*\)",
     r"(src|apps|timers)/|.*_test\.cc$", r"timers/shared/system_clock\.cc$",
     "only timers/shared/system_clock.cc asks the operating system for the time: take the time as an argument or a Clock"),
    ("sleep", r"\bthis_thread\s*(::\s*sleep_\w+|;)|\b(usleep|nanosleep|clock_nanosleep)\b"
     r"|(?<![\w.>:])(?:::\s*)?sleep\s*\(",
     r"(src|apps|timers/(?!examples/))/|.*_test\.cc$", r"(timers/(runtime|include)|src/server)/(?!.*_test\.cc$)",
     "nothing sleeps but timers/runtime and src/server, and no test does: wait for the event itself, or use a manual clock"),
    ("thread", r"\bstd\s*::\s*(j?thread\b(?!\s*::)|async\b)|\b(pthread_create|thrd_create)\b",
     r"(src|apps|tests|timers/(?!examples/))/", r"(timers/(runtime|include)|src/server)/|tests/integration/|.*_test\.cc$",
     "only timers/runtime and src/server start threads: make it a plain object whose blocking step the server runs"),
    ("planted", r"\b(planted\s*\(|PlantedBug\b|DUEWHEEL_PLANTED_BUGS\b)", r"(src|apps|timers|tests/support)/", r"(?!)",
     "the sources hold no planted bug: make it a patch of tests/simulation/bugs with tests/simulation/plant.py"),
]

# What the opening of a public header says, and the public headers that others are made of, where no user begins.
OPENING = {"when to choose it": r"\b[Cc]hoose\b", "its drawbacks": r"\b([Ww]hat it gives up|[Dd]rawbacks?)\b",
           "an example": r"\bExample: "}
INNER_HEADERS = {f"duewheel/{name}.h" for name in ("embedded_timer", "node_table", "parking_levels", "strip", "timer_node")}

DRAWERS = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"}
SKIPPED_FOLDERS = {".git", "build", "duewheel-data", "__pycache__", "node_modules"}
SOURCE_FOLDERS = ("src/", "timers/", "apps/", "tests/", "bench/")
LINES_MAX = 600
FILES_MAX = 40  # in one folder, without tests and lists

# Words that texts for readers do not use, as patterns, with what to write instead. Only words that are hardly ever right:
# `loop`, `half`, `rest` and `place` have uses of their own.
PHRASES = {
    r"who(m|so)?ever": "the client, the consumer, the caller",
    r"(no|some|every|any)body": "no client, a user, every consumer",
    r"who (asks|comes|drives|gets|has|looks|makes|posts|puts|reads|sends|takes|waits|writes)": "the client that, the thread that",
    r"(is|are) told|what (is|was) told": "receives, takes as an argument, is reported",
    r"so many": "up to `max`, a number of",
    r"a crowd": "a burst",
    r"(let|lets|letting) go": "expire, release, remove",
    r"(stand|stands|stood) (in|at) the (log|index)": "is in the log",
    r"(take|takes|took|taken) in": "add, accept, contain",
    r"(stand|stands|stood) still": "is invalid, waits, stops",
    r"(leave|leaves|left|leaving) out": "omit, exclude",
    r"(passes|passed|passing) over": "skip, ignore",
    r"the dead(?! letter)|dead messages?": "dead letters",
    r"(bring|brings|brought|bringing) back": "redrive, restore",
    r"(hand|hands|handed|handing) out": "deliver, lease, assign",
    r"(put|puts|set|sets) aside": "hold, held",
    r"halves": "prepared messages",
    r"growing rests?|(rests|rested) (after|between|until)": "backoff, interval, pause",
    r"anew": "again, rebuild",
    r"reckon\w*": "calculate",
}
# The texts that are checked: Markdown pages, and of C++ files outside of tests/ the string literals and the comments.
PLAIN_TEXTS = re.compile(r"(CHANGELOG|CONTRIBUTING|README|ARCHITECTURE)\.md$|bench/README\.md$|docs/(decisions/|learning/)?[^/]+\.md$|"
                         r"docs/proof/README\.md$|clients/([\w-]+/)*README\.md$|src/http_api/openapi\.json$|"
                         r"(src|apps|timers|bench)/[\w/]+\.(cc|h)$")

# Paths of one machine, and hosts of package registries: the project names neither. Built from parts, so that this
# file passes its own check.
FORBIDDEN_PATHS = ["/" + "/".join(parts) for parts in (["work", ""], ["tmp", "brief"], ["tmp", "build-"], ["root", ""])]
FORBIDDEN_HOSTS = [".".join(parts) for parts in (
    ["deb", "debian", "org"], ["snapshot", "debian", "org"], ["archive", "ubuntu", "com"], ["pypi", "org"],
    ["files", "pythonhosted", "org"], ["registry", "npmjs", "org"], ["registry", "yarnpkg", "com"],
    ["static", "crates", "io"], ["index", "crates", "io"], ["proxy", "golang", "org"], ["sum", "golang", "org"],
    ["repo", "maven", "apache", "org"], ["repo1", "maven", "org"], ["rubygems", "org"], ["docker", "io"],
    ["ghcr", "io"], ["quay", "io"], ["nodesource", "com"])]
FORBIDDEN = re.compile("|".join([r"(?<![\w.~}])" + re.escape(path) for path in FORBIDDEN_PATHS] +
                                [r"(?<![\w-])" + re.escape(host) + r"(?![\w-])" for host in FORBIDDEN_HOSTS]))

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
NOT_CODE = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
                      r'|//[^\n]*|/\*.*?\*/', re.DOTALL)


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.text}"


class Tree:
    """The files under `root` by their path with forward slashes; text is read once and kept."""

    def __init__(self, root):
        self.root = root
        self.paths = []
        self.texts = {}
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(set(files) - SKIPPED_FOLDERS):  # in a worktree, .git is a file
                self.paths.append(os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))

    def text(self, path):
        """The file as text, or an empty string if it is binary."""
        if path not in self.texts:
            try:
                with open(os.path.join(self.root, path), "rb") as file:
                    content = file.read()
            except OSError:  # a link to nowhere, or removed while we run
                content = b""
            self.texts[path] = "" if b"\0" in content[:8192] else content.decode("utf-8", errors="replace")
        return self.texts[path]

    def cpp(self, prefixes=SOURCE_FOLDERS):
        return [path for path in self.paths if path.endswith((".h", ".cc")) and path.startswith(prefixes)]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def code_only(text):
    """The text with comments and the inside of literals blanked; positions and lines stay where they are."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def includes(text):
    """(line, header, quoted?) of each include that is not commented out."""
    code = code_only(text)
    for match in INCLUDE.finditer(text):
        if code[match.start():match.end()].lstrip().startswith("#"):
            yield line_of(text, match.end()), match[1] or match[2], match[1] is not None


def module_of_header(header):
    """The row that a header belongs to, by its path relative to src/ or timers/."""
    folder = "/".join(header.split("/")[:2])
    return folder if folder in LAYERS else header.split("/")[0]


def module_of(path):
    parts = path.split("/")
    if parts[0] in ("src", "timers"):
        return module_of_header("/".join(parts[1:])) if len(parts) > 2 else None
    if parts[0] == "apps":
        return "/".join(parts[:2]) if len(parts) > 2 else None
    return parts[0]


def check_layers(tree):
    """A test or a fixture beside its source may also use the whole of a module that its row names one header of (an
    engine test needs some journal), and what tests/support offers."""
    for path in tree.cpp(("src/", "apps/", "timers/")):
        module = module_of(path)
        if module == "tests":
            continue
        if module not in LAYERS:
            yield Finding(path, 1, "layers", f"'{module or path}' is in no row of the layer table. Add it to "
                          "ARCHITECTURE.md and to LAYERS in tools/check_tree.py, or move the file into a module.")
            continue
        is_test = path.endswith(("_test.cc", "_fixture.h"))
        open_to_it = LAYERS[module] + ([entry.split("/")[0] for entry in LAYERS[module]] if is_test else [])
        for line, header, quoted in includes(tree.text(path)):
            target = module_of_header(header) if quoted else "include" if header.startswith("duewheel/") else None
            if target is None or target == module or target in open_to_it or header in open_to_it:
                continue
            if module.startswith("apps/") and quoted and (
                    f"apps/{header}" in tree.paths or f"{module}/{header}" in tree.paths or posixpath.join(posixpath.dirname(path), header) in tree.paths):
                continue
            if is_test and target == "support":
                continue
            if target not in LAYERS:
                yield Finding(path, line, "layers", f'"{header}" names no module. Write includes relative to src/ or timers/, as '
                              'in "base/status.h", and third-party ones in angle brackets.')
                continue
            yield Finding(path, line, "layers", f"{module} may not include {header}. It may include: "
                          f"{', '.join(LAYERS[module]) or 'nothing but itself'}. Move the code to the module that may, "
                          "or pass what is needed in through an interface.")


def check_walls(tree):
    for path in tree.cpp(("src/", "apps/", "timers/")):
        for line, header, quoted in includes(tree.text(path)):
            for prefix, allowed, remedy in WALLS:
                if header.startswith(prefix) and not re.match(allowed, path):
                    yield Finding(path, line, "walls", f"<{header}> is not for this place: {remedy}.")
                    break


def check_words(tree):
    for path in tree.cpp():
        code = None
        for rule, words, where, allowed, remedy in WORDS:
            if not re.match(where, path) or re.match(allowed, path):
                continue
            code = code or code_only(tree.text(path))
            for match in re.finditer(words, code):
                yield Finding(path, line_of(code, match.start()), rule,
                              f"'{' '.join(match.group().split())}': {remedy}.")


def check_names(tree):
    for path in tree.paths:
        for part in path.split("/"):
            drawer = DRAWERS.intersection(re.split(r"[^a-z]+", part.lower()))
            if drawer:
                yield Finding(path, 1, "names", f"'{drawer.pop()}' says nothing about what is inside. Name the file "
                              "or folder after the one idea it holds.")


def cmake_paths(text, folder):
    """Every path a CMake text names, relative to the root."""
    for token in re.findall(r'[^\s()"]+', text):
        token = re.sub(r"^\$\{(PROJECT|CMAKE)_SOURCE_DIR\}/?", "/", token)
        token = re.sub(r"^\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/", "", token)
        yield token.lstrip("/") if token.startswith("/") else posixpath.normpath(posixpath.join(folder, token))


def check_built(tree):
    """Each .cc is named in a CMakeLists.txt, and each CMakeLists.txt is reached from another one. A CMakeLists.txt
    with its own project() (an outside user of the library, a benchmark's peer) stands alone."""
    named, reached = set(), set()
    lists = {path: re.sub(r"#[^\n]*", "", tree.text(path)) for path in tree.paths
             if path.endswith(("CMakeLists.txt", ".cmake"))}
    for path, text in lists.items():
        named.update(cmake_paths(text, posixpath.dirname(path)))
        for match in re.finditer(r"\badd_subdirectory\s*\(([^)]*)\)", text):
            reached.update(cmake_paths(match[1], posixpath.dirname(path)))
    for path in tree.paths:
        if path.endswith(".cc") and path.startswith(SOURCE_FOLDERS) and path not in named:
            yield Finding(path, 1, "built", "no CMakeLists.txt names this file, so nothing builds it. Name it in full "
                          "in its module's CMakeLists.txt, or delete it.")
    for path, text in lists.items():
        folder = posixpath.dirname(path)
        if path.endswith("CMakeLists.txt") and folder and folder not in reached and \
                not re.search(r"^\s*project\s*\(", text, re.MULTILINE):
            yield Finding(path, 1, "built", f"no add_subdirectory({folder}) leads here, so nothing in it is built. Add "
                          "it to the CMakeLists.txt above, or delete it.")


def folder_map(text):
    """The folders drawn in the first fenced block that holds a tree of folders: {path: line}, or None without one.

    A line is `├── name/   what it is`, nested by indentation; `apps/{a,b}/` stands for two folders; names without a
    slash at the end are files and are passed over. A line at the left edge such as `duewheel/` is the root itself."""
    for block in re.finditer(r"^```[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if "── " not in block[1]:
            continue
        folders, above = {}, []  # above: (column, path) of the folders that the current line may lie in
        for offset, line in enumerate(block[1].split("\n")):
            drawn = re.match(r"[ \t│├└─]*", line).end()
            name = line[drawn:].split()[0] if line[drawn:].split() else ""
            if drawn == 0 or not name.endswith("/"):
                continue
            while above and above[-1][0] >= drawn:
                above.pop()
            parent = above[-1][1] if above else ""
            choice = re.fullmatch(r"(.*)\{([^}]*)\}(.*)", name)
            names = [choice[1] + one.strip() + choice[3] for one in choice[2].split(",")] if choice else [name]
            for one in names:
                folders[parent + one] = line_of(text, block.start(1)) + offset
            above.append((drawn, parent + names[0]))
        return folders
    return None


def check_folders(tree):
    page = "ARCHITECTURE.md"
    if page not in tree.paths:
        yield Finding(page, 1, "folders", "the page is missing. Write it, with a fenced folder map (lines such as "
                      "'├── src/   what it is') that names each top-level folder and each folder of src/ and timers/.")
        return
    mapped = folder_map(tree.text(page))
    if mapped is None:
        yield Finding(page, 1, "folders", "there is no fenced folder map in it. Draw one with lines such as "
                      "'├── src/   what it is', naming each top-level folder and each folder of src/ and timers/.")
        return
    present = {path[:end.end()] for path in tree.paths for end in re.finditer("/", path)}
    known = {folder[:end.end()] for folder in mapped for end in re.finditer("/", folder)}
    for folder in sorted(present):
        wanted = folder.count("/") == 1 or re.fullmatch(r"(src|timers)/[^/]+/", folder)
        if wanted and not folder.startswith(".") and folder not in known:
            yield Finding(page, 1, "folders", f"the folder map does not name {folder}. Add a line that says what it "
                          "is for.")
    for folder, line in mapped.items():
        if folder not in present:
            yield Finding(page, line, "folders", f"the folder map names {folder}, which does not exist. Remove the "
                          "line, or add the folder together with its first file.")


def check_sizes(tree):
    for path in tree.cpp():
        text = tree.text(path)
        lines = text.count("\n")
        opening = re.match(r"(?:[ \t]*//[^\n]*\n|\s*\n|/\*.*?\*/)*", text, re.DOTALL).group()
        if lines > LINES_MAX and not re.search(r"\blong\b", opening):
            yield Finding(path, 1, "size", f"{lines} lines. Split it by idea, or say in the opening comment why it is "
                          "'long' (that word is looked for).")


def check_rooms(tree):
    """A folder of sources is small enough to read its list of files."""
    counts = {}
    for path in tree.paths:
        if path.startswith(("src/", "timers/", "apps/")) and not re.search(r"_test\.\w+$|CMakeLists\.txt$", path):
            counts[posixpath.dirname(path)] = counts.get(posixpath.dirname(path), 0) + 1
    for folder, count in counts.items():
        if count > FILES_MAX:
            yield Finding(folder, 1, "rooms", f"{count} files, and more than {FILES_MAX} are too many to look through. Move those of "
                          "one idea into a folder of their own.")


def check_headers(tree):
    """docs/timers.md tells a user of the library where to start: each public header has a row of its own in a table that
    begins with "start here". And a header opens with what it is, when to choose it, its drawbacks, and an example,
    but for those that the others are made of. That the examples compile and run, timers/tests holds."""
    page = tree.text("docs/timers.md")
    rows = re.findall(r"^\| `(duewheel/[\w/]+\.h)` \| [^|\s]", "".join(
        table for table in re.findall(r"^\| start here \|[^\n]*\n((?:\|[^\n]*\n)*)", page, re.MULTILINE)), re.MULTILINE)
    headers = {path.removeprefix("timers/include/") for path in tree.cpp(("timers/include/duewheel/",))}
    for header in sorted(headers):
        if rows.count(header) != 1:
            yield Finding("docs/timers.md", 1, "headers", f"{rows.count(header) or 'no'} rows of the tables that begin with "
                          f"'start here' name {header}. Give it one that says what it is for.")
        comment = re.match(r"(?://[^\n]*\n)*", tree.text("timers/include/" + header)).group()
        opening = " ".join(comment.replace("//", " ").split())
        for wanted, words in OPENING.items():
            if header not in INNER_HEADERS and not re.search(words, opening):
                yield Finding("timers/include/" + header, 1, "headers", f"the opening comment does not say {wanted} (looked for: "
                              f"{words}). Say it there.")
    for header in sorted(set(rows) - headers):
        yield Finding("docs/timers.md", line_of(page, page.find(f"`{header}`")), "headers",
                      f"{header} does not exist. Remove the row, or correct the name.")


CODE_REFERENCE = re.compile(r"`((?:src|timers|apps)/[\w/.-]+\.(?:h|cc)):((?:\w+::)*)(\w+)`")


def check_references(tree):
    """A page that names a function as `src/engine/puts/puts.cc:Puts::decide` names one that the file contains."""
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        text = tree.text(path)
        for match in CODE_REFERENCE.finditer(text):
            file, scope, name = match.groups()
            code = code_only(tree.text(file)) if file in tree.paths else ""
            class_name = scope.removesuffix("::").split("::")[-1]
            qualified = rf"\b{class_name}::{name}\s*\(" if scope else rf"(?<![\w.>]){name}\s*\("
            in_class = rf"\b(?:class|struct)\s+{class_name}\b[^;]*?\{{.*(?<![\w.>:]){name}\s*\("
            if re.search(qualified, code) or (scope and re.search(in_class, code, re.DOTALL)):
                continue
            fault = f"{file} contains no {scope}{name}()" if file in tree.paths else f"{file} does not exist"
            yield Finding(path, line_of(text, match.start()), "references",
                          f"{fault}. Name the file and function that do this step now.")


NAMED_PATH = re.compile(r"`((?:src|apps|tests|timers|tools|web|bench|docs)/[\w/.*-]+)`")
HISTORY = re.compile(r"docs/decisions/\d|CHANGELOG\.md$")


def check_paths(tree):
    """A path that a page names, as `src/server/limits/*_limit_rows.cc`, is one of the tree or of the page's folder: a file, a
    folder, or a pattern that fits one, where NAME stands for any name. Dated decisions and the change log name what was there."""
    folders = {path[:end.start()] for path in tree.paths for end in re.finditer("/", path)}
    for path in tree.paths:
        if not path.endswith(".md") or HISTORY.match(path):
            continue
        text = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), tree.text(path))
        for match in NAMED_PATH.finditer(text):
            named = re.sub(r"(?:NN_)?NAME", "*", match.group(1).rstrip("/"))
            places = {named, posixpath.join(posixpath.dirname(path), named)}
            if not any(fnmatch.filter(tree.paths, place) or fnmatch.filter(folders, place) for place in places):
                yield Finding(path, line_of(text, match.start()), "paths",
                              f"'{match.group(1)}' does not exist. Name what is there now.")


MEMBER = re.compile(r"(?<![:\w])([A-Z]\w*)::([a-z]\w*)\b")
CLASS = re.compile(r"\b(?:class|struct)\s+([A-Z]\w*)[^;{}()]*\{")


def check_members(tree):
    """A member that a page or a comment names with its class, as `Loader::sweep`, is in a file that declares the class, or
    code names it so."""
    texts = {path: tree.text(path) for path in tree.paths if path.endswith((".md", ".h", ".cc"))}
    code = {path: code_only(text) for path, text in texts.items() if not path.endswith(".md")}
    declared = {}
    for path, text in code.items():
        for name in set(CLASS.findall(text)):
            declared.setdefault(name, []).append(path)
    in_code = {match for text in code.values() for match in MEMBER.findall(text)}
    for path, text in texts.items():
        for match in MEMBER.finditer(text):
            class_name, member = match.groups()
            is_there = (class_name, member) in in_code or class_name not in declared
            if is_there or any(re.search(rf"\b{member}\b", code[file]) for file in declared[class_name]):
                continue
            yield Finding(path, line_of(text, match.start()), "members",
                          f"{class_name} has no member {member}. Name the one that is meant now.")


LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def anchors(text):
    """The anchors of the headings of a Markdown text, formed as GitHub does; one for each heading text."""
    for heading in re.findall(r"^#+ +(.*?) *$", FENCED.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def check_links(tree):
    """Each relative link of a page leads to a file or folder of the tree, and to a heading if it names one."""
    folders = {path[:end.start()] for path in tree.paths for end in re.finditer("/", path)} | {"."}
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        text = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), tree.text(path))
        for match in LINK.finditer(text):
            target, anchor = match.groups()
            if re.match(r"[a-z]+:", target):
                continue
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if file not in tree.paths and file not in folders:
                yield Finding(path, line_of(text, match.start()), "links", f"'{target}' does not exist. Correct the path.")
            elif anchor and file.endswith(".md") and anchor not in anchors(tree.text(file)):
                yield Finding(path, line_of(text, match.start()), "links",
                              f"{file} has no heading with the anchor '{anchor}'. Name one that it has.")


CODE_SPAN = re.compile(r"^```.*?^```|`[^`]*`", re.DOTALL | re.MULTILINE)


def words_for_readers(path, text):
    """The text of the file for readers: a page without its code, or the comments and string literals of a C++ file; of a
    test only its comments."""
    if path.endswith(".md"):
        return CODE_SPAN.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), text)
    words = list(re.sub(r"[^\n]", " ", text))
    for match in NOT_CODE.finditer(text):
        if match.group().startswith("/") or not path.endswith("_test.cc"):
            words[match.start():match.end()] = match.group().replace("//", "  ")
    return "".join(words)


def check_plain_words(tree):
    for path in tree.paths:
        if not PLAIN_TEXTS.match(path):
            continue
        text = words_for_readers(path, tree.text(path))
        for phrase, better in PHRASES.items():
            pattern = r"\b(?:" + phrase.replace(" ", r"\s+") + r")(?!\w)"
            for match in re.finditer(pattern, text, re.IGNORECASE):
                yield Finding(path, line_of(text, match.start()), "plain words",
                              f"'{' '.join(match.group().split())}' is not plain English here. Write: {better}.")


# The marks that begin a comment, by the ending of the file. A comment without a subject begins with one of these words.
COMMENT_MARKS = [(r"\.(h|cc|ts|tsx|mjs|css)$", r"//|/\*\*?"),
                 (r"\.(py|sh|cmake)$|CMakeLists\.txt$|(^|/)dev$", r'#|"""')]
NO_SUBJECT = r"(Of|Likewise|Besides?|As in|Also)\b"


def check_comments(tree):
    """A comment, or a paragraph of one, starts with a noun or a verb: what the thing is, or what it does."""
    for path in tree.paths:
        marks = next((marks for ending, marks in COMMENT_MARKS if re.search(ending, path)), None)
        if marks is None or path.startswith("web/dist/"):
            continue
        was_comment = False
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            starts = re.match(rf"\s*({marks})\s*", line)
            begins_one = starts and not was_comment or re.search(rf"\S\s+({marks})\s+{NO_SUBJECT}", line)
            was_comment = bool(starts) and starts.end() < len(line)
            if begins_one and (word := re.search(rf"(?:{marks})\s*{NO_SUBJECT}", line)):
                yield Finding(path, number, "comments", f"the comment begins with '{word[1]}' and has no subject. "
                              "Say what the thing is, or what it does.")


DECISIONS = "docs/decisions/"


def check_decisions(tree):
    """The index of decisions has one line for each page, with the date and the title of the page."""
    index = tree.text(DECISIONS + "README.md")
    for path in tree.paths:
        name = path.removeprefix(DECISIONS)
        if not path.startswith(DECISIONS) or not name.endswith(".md") or name == "README.md":
            continue
        date = name[:len("2026-01-31")]
        title = re.match(rf"# {date}: (.+)", tree.text(path))
        if title is None:
            yield Finding(path, 1, "decisions", f"the page does not begin with '# {date}: what was decided'. Write that.")
        elif index.count(f"]({name})") != 1 or f"- {date}: [{title[1]}]({name})\n" not in index:
            yield Finding(path, 1, "decisions", f"{DECISIONS}README.md needs this line, below the topic that fits, and no other "
                          f"of the page: - {date}: [{title[1]}]({name})")


LOG_EVENTS = "docs/log_events.md"
# A call of a LogSink, or a level beside the name where the call is elsewhere; a name that is not written there is a fault.
LOG_CALL = re.compile(r'\b\w*log_?(?:\.|->)(debug|info|warning|error)\(\s*(?:"(\w+)"|(?=[^\s"]))|'
                      r'\bLogLevel::(debug|info|warning|error),\s*"(\w+)"')


def check_log_events(tree):
    """The page of log events has one row for each event of the sources, with its level, and none for others."""
    found, page = {}, tree.text(LOG_EVENTS)
    for path in tree.cpp(("src/", "apps/")):
        if path.endswith(("_test.cc", ".h")):
            continue
        text = tree.text(path)
        code = code_only(text)
        for match in LOG_CALL.finditer(text):
            if code[match.start()] == " ":
                continue  # in a comment
            level, name = match[1] or match[3], match[2] or match[4]
            if name:
                found.setdefault((level, name), (path, line_of(text, match.start())))
            else:
                yield Finding(path, line_of(text, match.start()), "log events", "the name of the event is not written in "
                              "the call. Write it as a string, or as LogLevel::warning, \"name\".")
    rows = re.findall(r"^\| (\w+) \| `(\w+)` \| [^|\n]*\w[^|\n]* \| [^|\n]*\w[^|\n]* \|$", page, re.MULTILINE)
    for (level, name), (path, line) in found.items():
        if rows.count((level, name)) != 1:
            yield Finding(path, line, "log events", f"{rows.count((level, name)) or 'no'} rows of {LOG_EVENTS} explain the "
                          f"event '{name}' of the level '{level}'. Give it one, with when it occurs and what to do.")
    for level, name in rows:
        if (level, name) not in found:
            yield Finding(LOG_EVENTS, line_of(page, page.find(f"| {level} | `{name}` |")), "log events",
                          f"no source writes the event '{name}' with the level '{level}'. Remove the row, or correct it.")


def check_leftovers(tree):
    for path in tree.cpp(("src/", "timers/", "apps/")):
        for match in re.finditer(r"\b(TODO|FIXME|XXX)\b", tree.text(path)):
            yield Finding(path, line_of(tree.text(path), match.start()), "leftovers",
                          f"'{match.group()}'. Do it now, or describe the limit as a fact in the documentation.")


def check_forbidden(tree):
    for path in tree.paths:
        for match in FORBIDDEN.finditer(tree.text(path)):
            yield Finding(path, line_of(tree.text(path), match.start()), "forbidden",
                          f"'{match.group()}' belongs to one machine or to one registry. Write a relative path, or "
                          "name the package and let the reader's own system find it.")


CHECKS = [check_layers, check_walls, check_words, check_names, check_built, check_folders, check_sizes, check_rooms, check_headers,
          check_references, check_paths, check_members, check_links, check_plain_words, check_comments, check_decisions, check_log_events,
          check_leftovers, check_forbidden]


def findings(root):
    tree = Tree(root)
    return [finding for check in CHECKS for finding in check(tree)], len(tree.paths)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not os.path.isfile(os.path.join(root, "CMakeLists.txt")):
        sys.exit(f"check_tree: {root} holds no CMakeLists.txt, so it is not the project's root")
    found, files = findings(root)
    for finding in found:
        print(finding)
    print(f"check_tree: {files} files, {len(found) or 'no'} finding{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
