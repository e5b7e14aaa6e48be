#!/usr/bin/env python3
"""Each rule of check_tree.py finds the small made-up tree that breaks it, and lets its clean neighbour pass.

Every case starts from CLEAN and adds or replaces a few files, so what is found is due to those files alone.
"""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import check_tree  # noqa: E402

CLEAN = {
    "CMakeLists.txt": "add_subdirectory(src/base)\nadd_subdirectory(src/engine)\n",
    "ARCHITECTURE.md": "# Map\n\n```\n"
                       "duewheel/\n"
                       "├── README.md       start here\n"
                       "├── src/\n"
                       "│   ├── base/       general things   └─ nothing/ of this is a folder\n"
                       "│   └── engine/     decides\n"
                       "└── tools/          checks\n"
                       "```\n",
    "README.md": "Duewheel\n",
    "tools/check.py": "pass\n",
    "src/base/CMakeLists.txt": "duewheel_module(base SOURCES status.cc)\n",
    "src/base/status.h": "// A status.\n#pragma once\n",
    "src/base/status.cc": '#include "base/status.h"\n\n#include <string>\n',
    "src/engine/CMakeLists.txt": "duewheel_module(engine SOURCES engine.cc)\n",
    "src/engine/engine.cc": '#include "base/status.h"\n#include "journal/journal.h"\n',
}


def found_in(changes, but=("headers",)):
    """The findings, as "path:line [rule]", of CLEAN with `changes` (path: text, or None to remove) laid over it. What
    the README says of a made-up header is left to the test that is about that."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **changes}.items():
            if text is None:
                continue
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
        return [f"{one.path}:{one.line} [{one.rule}]" for one in check_tree.findings(root)[0] if one.rule not in but]


def with_source(path, text):
    """CLEAN's changes for one more source, built and in the folder map, so that only its text can be at fault."""
    folder = os.path.dirname(path)
    top = path.split("/")[0]
    page = f"```\n├── src/\n│   ├── base/\n│   └── engine/\n├── tools/\n├── {top}/\n├── {folder}/\n```\n"
    changes = {path: text, "ARCHITECTURE.md": page}
    lists = f"{folder}/CMakeLists.txt"
    if path.endswith(".cc"):
        changes[lists] = CLEAN.get(lists, "") + f"add_program({os.path.basename(path)})\n"
        if lists not in CLEAN:
            changes["CMakeLists.txt"] = CLEAN["CMakeLists.txt"] + f"add_subdirectory({folder})\n"
    return changes


class CheckTree(unittest.TestCase):
    def assert_rule(self, rule, refused=(), allowed=(), line=1):
        for path, text in refused:
            with self.subTest(refused=(path, text)):
                self.assertEqual(found_in(with_source(path, text)), [f"{path}:{line} [{rule}]"])
        for path, text in allowed:
            with self.subTest(allowed=(path, text)):
                self.assertEqual(found_in(with_source(path, text)), [])

    def test_the_clean_tree_passes(self):
        self.assertEqual(found_in({}), [])

    def test_includes_follow_the_layer_table(self):
        self.assert_rule("layers", refused=[
            ("src/base/clock.h", '#include "wheel/wheel.h"\n'),
            ("timers/wheel/wheel.h", '#include "calendar/cron.h"\n'),
            ("timers/wheel/wheel.h", '#include "schemes/heap.h"\n'),
            ("timers/schemes/heap.h", '#include "calendar/cron.h"\n'),
            ("src/engine/window.cc", '#include "schemes/heap.h"\n'),
            ("src/net/http.cc", '#include "message/message.h"\n'),
            ("src/journal/journal.h", '#include "net/http.h"\n'),
            ("src/store/store.cc", '#include "journal/local_journal.h"\n'),
            ("src/engine/window.cc", '#include "store/index.h"\n'),
            ("src/engine/window.cc", '#include "delivery/delivery.h"\n'),
            ("src/webhooks/webhook_pusher.cc", '#include "http_api/http_api.h"\n'),
            ("src/webhooks/webhook_pusher.cc", '#include "engine/core/engine.h"\n'),
            ("src/http_api/http_api.cc", '#include "store/store.h"\n'),
            ("src/message/message.h", "#include <duewheel/wheel.h>\n"),
            ("src/server/server.cc", '#include "duewheeld/main.h"\n'),
            ("src/base/clock.h", '#include "status.h"\n'),
            ("timers/include/duewheel/wheel.h", '#include "base/log.h"\n'),
            ("timers/include/duewheel/status.h", '#include "base/status.h"\n'),
            ("src/base/clock.h", "#include <duewheel/wheel.h>\n"),
            ("apps/duewheeld/main.cc", '#include "engine/core/engine.h"\n'),
            ("apps/duewheel/main.cc", '#include "engine/core/engine.h"\n'),
            ("timers/examples/first.cc", '#include "wheel/wheel.h"\n'),
            ("src/plumbing/pipe.h", "#pragma once\n"),
            ("src/engine/window.cc", '#include "kafka/client/kafka.h"\n'),
            ("src/kafka/out/record.cc", '#include "kafka/client/kafka_handle.h"\n'),
        ], allowed=[
            ("src/journal/local_journal.cc", '#include "message/records/record.h"\n'),
            ("src/store/store.cc", '#include "journal/segment.h"\n#include "store/index.h"\n'),
            ("src/engine/window.cc", '#include "store/store.h"\n#include <duewheel/wheel.h>\n'),
            ("src/webhooks/webhook_pusher.cc", '#include "port/delivery_port.h"\n'),
            ("src/server/server.cc", '#include "delivery/pull_queue.h"\n#include "store/index.h"\n'),
            ("timers/wheel/wheel.h", '#include "shared/tick.h"\n// #include "engine/core/engine.h"\n'),
            ("timers/wheel/wheel.cc", 'const char* text = R"(\n#include "engine/core/engine.h"\n)";\n'),
            ("timers/schemes/heap.h", '#include "shared/tick.h"\n#include "wheel/wheel.h"\n'),
            ("timers/examples/first.cc", '#include "schemes/heap.h"\n'),
            ("timers/include/duewheel/timer.h", "#include <duewheel/wheel.h>\n"),
            ("src/base/log.h", "#include <duewheel/status.h>\n"),
            ("src/kafka/out/record.cc", '#include "kafka/client/kafka.h"\n#include "kafka/out/sender.h"\n'),
            ("apps/duewheel/put.cc", '#include "store/index.h"\n#include "net/http.h"\n'),
            ("timers/examples/first.cc", "#include <duewheel/wheel.h>\n"),
        ])

    def test_a_test_may_use_the_whole_of_a_module_named_in_its_row(self):
        self.assert_rule("layers", refused=[
            ("src/engine/window_test.cc", '#include "delivery/pull_queue.h"\n'),
        ], allowed=[
            ("src/engine/window_test.cc", '#include "journal/local_journal.h"\n#include "support/fake_disk.h"\n'),
        ])

    def test_a_program_may_include_its_own_headers(self):
        changes = with_source("apps/duewheel/put.cc", '#include "duewheel/command.h"\n#include "table.h"\n')
        changes.update({"apps/duewheel/command.h": "", "apps/duewheel/table.h": ""})
        self.assertEqual(found_in(changes), [])

    def test_a_folder_is_small_enough_to_look_through(self):
        many = {f"src/base/{number}.h": "#pragma once\n" for number in range(38)}
        self.assertEqual(found_in(many), [])
        self.assertEqual(found_in({**many, "src/base/one_test.h": ""}), [])
        self.assertEqual(found_in({**many, "src/base/one.h": ""}), ["src/base:1 [rooms]"])

    def test_third_party_headers_stay_behind_their_walls(self):
        self.assert_rule("walls", refused=[
            ("src/engine/window.cc", "#include <rocksdb/db.h>\n"),
            ("src/http_api/http_api.h", "#include <boost/asio.hpp>\n"),
            ("src/engine/window.cc", "#include <boost/asio.hpp>\n"),
            ("src/net/http.cc", "#include <boost/json.hpp>\n"),
            ("timers/calendar/cron.cc", "#include <boost/container/small_vector.hpp>\n"),
            ("timers/include/duewheel/timer.h", "#include <boost/asio/any_io_executor.hpp>\n"),
        ], allowed=[
            ("src/store/index.cc", "#include <rocksdb/db.h>\n"),
            ("src/net/http.h", "#include <boost/asio.hpp>\n"),
            ("src/http_api/http_api.cc", "#include <boost/asio.hpp>\n#include <boost/json.hpp>\n"),
            ("timers/include/duewheel/asio.h", "#include <boost/asio/any_io_executor.hpp>\n"),
            ("src/message/record.cc", "#include <boost/container/small_vector.hpp>\n"),
            ("tests/integration/peer.cc", "#include <rocksdb/db.h>\n"),
        ])

    def test_only_the_system_clock_asks_for_the_time(self):
        self.assert_rule("clock", refused=[
            ("src/server/server.cc", "auto now = std::chrono::steady_clock::now();\n"),
            ("timers/runtime/service.cc", "clock_gettime(CLOCK_MONOTONIC, &spec);\n"),
            ("src/base/random.cc", "auto seed = time(nullptr);\n"),
            ("src/base/random.cc", "auto seed = std::time(&t);\n"),
            ("apps/duewheel/put.cc", "gettimeofday(&value, nullptr);\n"),
            ("src/base/random.cc", "timespec_get(&spec, TIME_UTC);\n"),
            ("timers/include/duewheel/timer.h", "inline auto now() { return system_clock :: now(); }\n"),
            ("tests/simulation/engine_test.cc", "auto now = std::chrono::system_clock::now();\n"),
        ], allowed=[
            ("timers/shared/system_clock.cc", "auto now = std::chrono::steady_clock::now();\n"),
            ("src/engine/window.cc", "// steady_clock::now\nauto due = entry.time(0) + Entry::time(0) + now();\n"),
            ("bench/run.cc", "auto now = std::chrono::steady_clock::now();\n"),
        ])

    def test_nothing_sleeps_but_the_runtime(self):
        self.assert_rule("sleep", refused=[
            ("src/engine/window.cc", "std::this_thread::sleep_for(1ms);\n"),
            ("src/net/http.cc", "usleep(5);\n"),
            ("src/net/http.cc", "nanosleep(&spec, nullptr);\n"),
            ("apps/duewheel/verbs/top.cc", "::sleep(1);\n"),
            ("timers/runtime/service_test.cc", "std::this_thread::sleep_until(deadline);\n"),
            ("bench/run_test.cc", "using namespace std::this_thread;\n"),
        ], allowed=[
            ("timers/runtime/service.cc", "std::this_thread::sleep_for(1ms);\n"),
            ("src/server/server.cc", "nanosleep(&spec, nullptr);\n"),
            ("timers/runtime/service_test.cc", "co_await sleep_for(5ms);\nworker.sleep(1);\n"),
        ])

    def test_only_the_runtime_and_the_server_start_threads(self):
        self.assert_rule("thread", refused=[
            ("src/net/listener.cc", "std::thread worker(run);\n"),
            ("src/journal/committer.h", "std::jthread worker_;\n"),
            ("apps/duewheel/verbs/bench.cc", "auto answer = std::async(run);\n"),
            ("tests/simulation/world.cc", "pthread_create(&id, nullptr, run, nullptr);\n"),
        ], allowed=[
            ("timers/runtime/service.h", "std::jthread worker_;\n"),
            ("src/server/server.cc", "std::thread worker(run);\n"),
            ("src/engine/window_test.cc", "std::thread worker(run);\n"),
            ("src/net/listener.cc", "std::thread::id owner;  // no std::thread here\n"),
            ("bench/run.cc", "std::thread worker(run);\n"),
            ("tests/integration/crash.cc", "std::thread worker(run);\n"),
        ])

    def test_planted_bugs_are_patches(self):
        self.assert_rule("planted", refused=[
            ("src/engine/window.cc", "if (planted(early)) return;\n"),
            ("src/engine/window_test.cc", "run(PlantedBug::early);\n"),
            ("timers/include/duewheel/ring.h", "#ifdef DUEWHEEL_PLANTED_BUGS\n"),
            ("apps/duewheel/verbs/top.cc", "const bool now = planted (bug);\n"),
            ("tests/support/disk.cc", "if (planted(bug)) return;\n"),
        ], allowed=[
            ("src/engine/window.cc", "// planted(early)\nif (is_planted(tree)) return;\n"),
            ("tests/simulation/hunt.cc", "if (planted(PlantedBug::early)) return;\n"),
        ])

    def test_files_are_not_called_after_drawers(self):
        self.assert_rule("names", refused=[
            ("src/engine/time_util.h", ""), ("src/base/helpers.h", ""), ("src/engine/lease-manager.h", ""),
            ("tools/misc.py", ""),
        ], allowed=[("src/engine/commons.h", ""), ("src/base/utility_bill.h", "")])
        self.assertEqual(found_in({"docs/common/page.md": "", "ARCHITECTURE.md": CLEAN["ARCHITECTURE.md"].replace(
            "└── tools/", "├── docs/\n└── tools/")}), ["docs/common/page.md:1 [names]"])

    def test_every_source_is_built(self):
        self.assertEqual(found_in({"src/base/random.cc": ""}), ["src/base/random.cc:1 [built]"])
        self.assertEqual(found_in({"src/base/random.cc": "", "src/base/CMakeLists.txt": "m(status.cc) # random.cc\n"}),
                         ["src/base/random.cc:1 [built]"])
        self.assertEqual(found_in({"src/base/hash/random.cc": "",
                                   "src/base/CMakeLists.txt": "m(status.cc random.cc)\n"}),
                         ["src/base/hash/random.cc:1 [built]"])
        for named in ("hash/random.cc", "${CMAKE_CURRENT_SOURCE_DIR}/hash/random.cc",
                      '"${PROJECT_SOURCE_DIR}/src/base/hash/random.cc"'):
            with self.subTest(named=named):
                self.assertEqual(found_in({"src/base/hash/random.cc": "",
                                           "src/base/CMakeLists.txt": f"m(status.cc\n  {named})\n"}), [])

    def test_every_cmake_list_is_reached(self):
        self.assertEqual(found_in({"CMakeLists.txt": "add_subdirectory(src/base)\nset(other src/engine)\n"}),
                         ["src/engine/CMakeLists.txt:1 [built]"])
        self.assertEqual(found_in({"tools/outside/CMakeLists.txt": "project(outside_user)\n"}), [])

    def test_the_folder_map_and_the_folders_agree(self):
        page = CLEAN["ARCHITECTURE.md"]
        self.assertEqual(found_in({"ARCHITECTURE.md": None}), ["ARCHITECTURE.md:1 [folders]"])
        self.assertEqual(found_in({"ARCHITECTURE.md": "# Map\n\n```\nsrc/ tools/\n```\n"}),
                         ["ARCHITECTURE.md:1 [folders]"])
        self.assertEqual(found_in({"docs/page.md": ""}), ["ARCHITECTURE.md:1 [folders]"])
        self.assertEqual(found_in({"src/store/store.h": ""}), ["ARCHITECTURE.md:1 [folders]"])
        self.assertEqual(found_in({"ARCHITECTURE.md": page.replace("└── tools/", "├── web/\n└── tools/")}),
                         ["ARCHITECTURE.md:9 [folders]"])
        self.assertEqual(found_in({"ARCHITECTURE.md": page.replace("│   └── engine/", "│   ├── wheel/\n│   └── engine/")
                                   }), ["ARCHITECTURE.md:8 [folders]"])
        both = page.replace("└── tools/", "├── docs/{a,b}/   pages\n└── tools/")
        self.assertEqual(found_in({"ARCHITECTURE.md": both, "docs/a/page.md": "", "docs/b/page.md": ""}), [])
        self.assertEqual(found_in({"ARCHITECTURE.md": both, "docs/a/page.md": ""}), ["ARCHITECTURE.md:9 [folders]"])
        self.assertEqual(found_in({".ci/run": "", "build/release/x.cc": "TODO", "src/base/__pycache__/util.pyc": ""}),
                         [])

    def test_a_file_past_the_size_says_why(self):
        self.assert_rule("size", refused=[
            ("src/base/table.h", "int x;\n" * 601),
            ("src/base/table.h", "// A table.\n\n" + "long x;\n" * 601),
        ], allowed=[
            ("src/base/table.h", "int x;\n" * 600),
            ("src/base/table.h", "// A table.\n//\n// This file is long because it is data.\n\n" + "int x;\n" * 601),
            ("src/base/table.h", "/* A long table. */\n" + "int x;\n" * 601),
        ])

    def test_the_page_of_timers_says_where_to_start_and_each_header_when_to_choose_it(self):
        opening = "// A ring. Choose it for rings. Drawback:\n// no corners.\n//\n// Example:\n//     Ring ring;\n"
        page = "```\n├── timers/\n│   └── include/\n├── src/\n│   ├── base/\n│   └── engine/\n├── docs/\n└── tools/\n```\n"
        table = "| start here | for |\n|---|---|\n| `duewheel/ring.h` | rings |\n"
        ring = {"ARCHITECTURE.md": page, "timers/include/duewheel/ring.h": opening + "#pragma once\n", "docs/timers.md": table}

        def found(changes):
            return found_in({**ring, **changes}, but=())

        self.assertEqual(found({}), [])
        self.assertEqual(found({"docs/timers.md": "Start here: `duewheel/ring.h`\n"}), ["docs/timers.md:1 [headers]"])
        self.assertEqual(found({"docs/timers.md": table.replace("start here", "header")}), ["docs/timers.md:1 [headers]"])
        self.assertEqual(found({"docs/timers.md": table.replace("rings |", "|")}), ["docs/timers.md:1 [headers]"])
        self.assertEqual(found({"docs/timers.md": table + "| `duewheel/ring.h` | again |\n"}), ["docs/timers.md:1 [headers]"])
        self.assertEqual(found({"docs/timers.md": table.replace("ring.h`", "ring.h`, `duewheel/disc.h`")}),
                         ["docs/timers.md:1 [headers]"], "each has a row of its own")
        self.assertEqual(found({"docs/timers.md": table + "| `duewheel/disc.h` | discs |\n"}), ["docs/timers.md:4 [headers]"])
        for said in ("Choose it for rings. ", "Drawback:\n// no corners.", "// Example:\n"):
            self.assertEqual(found({"timers/include/duewheel/ring.h": opening.replace(said, "")}),
                             ["timers/include/duewheel/ring.h:1 [headers]"], said)
        inner = {"timers/include/duewheel/strip.h": "// What a slot holds.\n", "docs/timers.md": table + "| `duewheel/strip.h` | slots |\n"}
        self.assertEqual(found(inner), [])

    def test_a_page_names_functions_that_exist(self):
        code = {"src/engine/engine.cc": "void Engine::put(int x) {\n    forget(x);\n}\nint count() { return 1; }\n"
                                        "// Engine::lost()\n",
                "src/base/status.h": "// A status.\n#pragma once\nclass Status {\n  public:\n    int code() { return 0; }\n};\n"}

        def found(reference):
            return found_in({**code, "README.md": f"Duewheel\n`{reference}` puts it.\n"})

        for reference in ("src/engine/engine.cc:Engine::put", "src/engine/engine.cc:count", "src/base/status.h:Status::code",
                          "src/engine/engine.cc", "engine.cc:put"):
            self.assertEqual(found(reference), [], reference)
        for reference in ("src/engine/engine.cc:Engine::take", "src/engine/engine.cc:Engine::lost", "src/engine/engine.cc:pu",
                          "src/engine/engine.cc:Queue::put", "src/base/status.h:Status::text", "src/engine/gone.cc:Engine::put"):
            self.assertEqual(found(reference), ["README.md:2 [references]"], reference)

    def test_paths_that_a_page_names_exist(self):
        def found(path, page="README.md"):
            return found_in({"web/src/main.ts": "", "web/README.md": "The dashboard\n", page: f"Rows are in `{path}`.\n"})

        for path in ("src/base/status.h", "src/base", "src/base/", "src/*/status.*", "src/NAME/status.h", "build/bin/x"):
            self.assertEqual([each for each in found(path) if "[paths]" in each], [], path)
        self.assertEqual([each for each in found("src/main.ts", "web/README.md") if "[paths]" in each], [])
        for path in ("src/base/state.h", "src/bas", "src/base/*_rows.cc"):
            self.assertIn("README.md:1 [paths]", found(path), path)

    def test_members_that_pages_and_comments_name_exist(self):
        """The picture of the life of a message named functions of the engine that had long become those of its parts."""
        code = {"src/base/status.h": "// A status.\n#pragma once\nclass Status {\n  public:\n    int code() { return 0; }\n};\n",
                "src/engine/engine.cc": "void Engine::put(int x) {}\n"}

        def found(page, comment="A file."):
            return found_in({**code, "README.md": f"Duewheel\n{page}\n",
                             "src/base/status.cc": f"// {comment}\n#include \"base/status.h\"\n"})

        for name in ("Status::code", "Engine::put", "std::move", "Unknown::thing"):
            self.assertEqual(found(f"```\n {name} ─►\n```", name), [], name)
        self.assertEqual(found("```\n Status::text ─►\n```"), ["README.md:3 [members]"])
        self.assertEqual(found("", "As Status::text()."), ["src/base/status.cc:1 [members]"])

    def test_a_link_leads_to_a_file_and_to_a_heading(self):
        pages = {"src/engine/notes.md": "# The engine: `put`, and *more*\n\n```\n# no heading\n```\n"}

        def found(link):
            return found_in({**pages, "README.md": f"Duewheel\nsee [it]({link})\n"})

        for link in ("src/engine/notes.md", "src/engine", "./src/engine/", "src/engine/notes.md#the-engine-put-and-more",
                     "https://example.org/x.md", "mailto:a@b", "src/engine/engine.cc#L1"):
            self.assertEqual(found(link), [], link)
        for link in ("src/engine/gone.md", "engine/notes.md", "src/engine/notes.md#no-heading", "#duewheel", "../README.md"):
            self.assertEqual(found(link), ["README.md:2 [links]"], link)
        self.assertEqual(found_in({"README.md": "# Top\n\n[up](#top)\n\n```\n[example](nowhere.md)\n```\n"}), [])
        self.assertEqual(found_in({"src/engine/notes.md": "[up](../../README.md) [beside](engine.cc)\n"}), [])

    def test_pages_that_were_cleaned_stay_in_plain_words(self):
        page, code = "docs/promises.md", "src/engine/refusal.cc"
        tree = {"ARCHITECTURE.md": CLEAN["ARCHITECTURE.md"].replace("└── tools/", "├── docs/\n└── tools/")}

        def found(text, path=page):
            return found_in({**tree, page: "", path: "// A text.\n" + text})

        for words in ("Whoever puts it", "nobody waits", "who asks for it", "it is told", "so many a second", "lets go of them",
                      "it stands still", "left out of it", "is passed\nover", "the dead of a queue", "brought back later",
                      "handed out", "set aside", "two halves", "rests until then", "is built anew", "reckoned", "who waits",
                      "what was told", "stands in the log", "a table is taken in"):
            self.assertEqual(found(words + "\n"), [f"{page}:2 [plain words]"], words)
        for words in ("the dead letters", "`nobody` owns it", "```\nnobody\n```", "half of it", "the rest after that", "handout",
                      "users who may read it"):
            self.assertEqual(found(words + "\n"), [], words)
        self.assertEqual(found_in({"src/engine/notes.md": "nobody\n"}), [], "no page of the documentation")
        for folder in ("timers/calendar", "src/engine", "timers/patterns", "timers/wheel", "apps/duewheel", "timers/include/duewheel"):
            for name in ("refusal.cc", "refusal.h", "refusal_test.cc"):
                self.assertTrue(check_tree.PLAIN_TEXTS.match(f"{folder}/{name}"), folder)
        contract = '{"summary": "nobody", "nobody": 1}'
        self.assertEqual(check_tree.words_for_readers("src/http_api/openapi.json", contract).count("nobody"), 2)
        self.assertTrue(check_tree.PLAIN_TEXTS.match("src/http_api/openapi.json"))
        self.assertEqual(check_tree.words_for_readers(code, 'f("nobody");  // everybody\n').split(), ['"nobody"', "everybody"])
        self.assertEqual(check_tree.words_for_readers("src/a_test.cc", 'f("nobody");  // everybody\n').split(), ["everybody"])
        self.assertEqual(found("// told that nobody\n// stands\n// still\n", code),
                         [f"{code}:1 [built]", f"{code}:2 [plain words]", f"{code}:3 [plain words]"])

    def test_a_comment_starts_with_a_noun_or_a_verb(self):
        self.assert_rule("comments", refused=[(path, comment) for path, comments in (
            ("src/base/table.h", ("// Of one node.\nint a;\n", "int a;  // Likewise.\n", "/* As in a table. */\n")),
            ("web/src/rings.ts", ("/** Of a slot. */\n", "const a = 1 // Also here.\n")),
            ("tools/plan.py", ("# Beside the others.\n", '"""Of a run."""\n')),
            ("packaging/install.sh", ("# Besides this.\n",)),
            ("cmake/tests.cmake", ("# Of this build.\n",))) for comment in comments], allowed=[
            ("src/base/table.h", "// The node\n// Of one queue.\nint a;  // of each\n// Often.\n"),
            ("src/base/table.h", 'auto text = "// Of one";\n'),
            ("web/dist/app.mjs", "// Of one\n"),
            ("tools/notes.txt", "# Of one\n")])
        self.assert_rule("comments", line=3, refused=[("src/base/table.h", "// The node.\n//\n// Also the other.\n")])

    def test_each_decision_is_in_the_index_once_with_its_title(self):
        name = "2026-11-21-turns.md"
        line = f"- 2026-11-21: [queues take turns]({name})\n"
        tree = {"ARCHITECTURE.md": CLEAN["ARCHITECTURE.md"].replace("└── tools/", "├── docs/\n└── tools/")}

        def found(index, title="# 2026-11-21: queues take turns\n"):
            return found_in({**tree, "docs/decisions/README.md": index, f"docs/decisions/{name}": title})

        missing = [f"docs/decisions/{name}:1 [decisions]"]
        self.assertEqual(found("## Fairness\n\n" + line), [])
        for index in ("", line + line, line.replace("queues", "Queues"), line.replace("11-21: [", "11-22: [")):
            self.assertEqual(found(index), missing, index)
        for title in ("# Queues take turns\n", "# 2026-11-22: queues take turns\n"):
            self.assertEqual(found(line, title), missing, title)

    def test_each_log_event_has_a_row_with_its_level(self):
        head = "| level | event | when | what to do |\n|---|---|---|---|\n"
        full, gone = "| warning | `full` | it is full | empty it |\n", "| info | `gone` | it went | nothing |\n"
        tree = {"ARCHITECTURE.md": CLEAN["ARCHITECTURE.md"].replace("└── tools/", "├── docs/\n└── tools/")}

        def found(code, rows):
            return found_in({**tree, "src/engine/notes.cc": code, "docs/log_events.md": head + rows,
                             "src/engine/CMakeLists.txt": CLEAN["src/engine/CMakeLists.txt"] + "m(notes.cc)\n"})

        missing, stale = ["src/engine/notes.cc:1 [log events]"], ["docs/log_events.md:3 [log events]"]
        calls = ['log.warning("full", "It is full.");\n', 'log_->warning(\n    "full", "It is full.");\n',
                 'Step{LogLevel::warning, "full"};\n']
        for call in calls:
            self.assertEqual(found(call, full), [], call)
            self.assertEqual(found(call, ""), missing, call)
            self.assertEqual(found(call, full + full), missing, call)
            self.assertEqual(found(call, full.replace("empty it", "")), missing, "no word of what to do")
            self.assertEqual(found(call, full.replace("warning", "error")), missing + stale, "another level")
        self.assertEqual(found(calls[0], full + gone), ["docs/log_events.md:4 [log events]"])
        self.assertEqual(found("// " + calls[0], full), stale)
        self.assertEqual(found("log.info(step.event);\n", ""), missing, "a name that is written elsewhere")
        self.assertEqual(found('reply.error("full");\nlog.write(level, event);\n', ""), [])
        self.assertEqual(found_in({"src/engine/notes_test.cc": calls[0], "src/engine/CMakeLists.txt":
                                   CLEAN["src/engine/CMakeLists.txt"] + "m(notes_test.cc)\n"}), [])

    def test_nothing_is_left_for_later(self):
        self.assert_rule("leftovers", line=2, refused=[
            ("src/base/table.h", f"\n// {word}: finish\n") for word in ("TODO", "FIXME", "XXX")
        ], allowed=[("src/base/table.h", 'auto name = "file-XXXXXX";\n'), ("bench/run.cc", "// TODO\n")])

    def test_no_machine_and_no_registry_is_named(self):
        for words in ("/" + "work/main", "see /" + "root/x", "https://" + "registry.npmjs" + ".org/left-pad",
                      "http://" + "deb.debian" + ".org/debian", "host = pypi" + ".org"):
            with self.subTest(words=words):
                self.assertEqual(found_in({"README.md": f"Duewheel\n{words}\n"}), ["README.md:2 [forbidden]"])
        for words in ("docs/work/plan", "a network/root/leaf", "github.com/rust-lang/" + "crates.io-index"):
            with self.subTest(words=words):
                self.assertEqual(found_in({"README.md": words}), [])
        self.assertEqual(found_in({"tools/picture.png": b"\x89PNG\0 /" + b"work/"}), [])


if __name__ == "__main__":
    unittest.main()
