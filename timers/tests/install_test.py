#!/usr/bin/env python3
"""The timer library as its users get it: installed into a fresh prefix, found by a project outside of this tree, and taken
in as a folder.

    install_test.py --build BUILD --compiler CXX --flags FLAGS --cmake CMAKE

Each public header is compiled alone, with warnings as errors, and so is the example in its opening comment, which is also
run: the indented lines after a line that says `// Example:`. Of this library it has what it includes, and nothing else.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
# What others are made of: no user begins there.
INNER = {"duewheel/embedded_timer.h", "duewheel/node_table.h", "duewheel/parking_levels.h", "duewheel/strip.h",
         "duewheel/timer_node.h"}
# What duewheel::wheels is for.
WHEELS = ["duewheel/chrono_wheel.h", "duewheel/id_timing_wheel.h", "duewheel/intrusive_timing_wheel.h",
          "duewheel/tick.h", "duewheel/timing_wheel.h"]
# What a header needs that need not be there; without it, it is not compiled.
NEEDS = {"duewheel/asio.h": "boost/asio.hpp"}
EXAMPLE = re.compile(r"^// Example:\n((?://     .*\n)+)", re.MULTILINE)

arguments = argparse.ArgumentParser()
for name in ("build", "compiler", "flags", "cmake"):
    arguments.add_argument(f"--{name}", required=True)
options, rest = arguments.parse_known_args()


def headers():
    return sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))


def opening(header):
    """The comment a header begins with."""
    return re.match(r"(?://[^\n]*\n)*", (INCLUDE / header).read_text()).group()


def example(header):
    found = EXAMPLE.search(opening(header))
    return re.sub(r"^//     ", "", found[1], flags=re.MULTILINE) if found else ""


def source(header):
    """A program's part that includes the header first, twice, and then carries out its example."""
    function = re.sub(r"\W", "_", header)
    lines = example(header).splitlines(keepends=True)
    includes = "".join(line for line in lines if line.startswith("#include"))
    body = "".join(line for line in lines if not line.startswith("#include"))
    text = (f"#include <{header}>\n#include <{header}>\n\n#include <cassert>\n#include <chrono>\n#include <cstdlib>\n#include <future>\n"
            f"#include <memory>\n#include <string_view>\n\n{includes}#include <duewheel/status.h>\n\n"
            f"duewheel::Status {function}();\n\n"
            f"duewheel::Status {function}() {{\n"
            "    using namespace duewheel;\n    using namespace std::chrono;\n    using namespace std::chrono_literals;\n"
            f"{body}    return {{}};\n}}\n")
    if header not in NEEDS:
        return text
    return (f"#if __has_include(<{NEEDS[header]}>)\n{text}#else\n#include <duewheel/status.h>\n\n"
            f"duewheel::Status {function}();\n\nduewheel::Status {function}() {{ return {{}}; }}\n#endif\n")


def main_source(of):
    functions = [re.sub(r"\W", "_", header) for header in of]
    return ("#include <cstdio>\n\n#include <duewheel/status.h>\n\n" +
            "".join(f"duewheel::Status {function}();\n" for function in functions) +
            "\nint main() {\n    bool all_ok = true;\n" +
            "".join(f'    if (const duewheel::Status status = {function}(); !status) {{\n'
                    f'        std::printf("{function}: %s\\n", status.error().message.c_str());\n'
                    "        all_ok = false;\n    }\n" for function in functions) +
            "    return all_ok ? 0 : 1;\n}\n")


class Install(unittest.TestCase):
    def run_it(self, *command):
        run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=280)
        self.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}{run.stderr}")
        return run.stdout

    def configure(self, source_folder, build_folder, *more):
        self.run_it(options.cmake, "-S", source_folder, "-B", build_folder, "-G", "Ninja",
                    f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DCMAKE_CXX_FLAGS={options.flags}", *more)

    def test_an_outside_project_finds_it_and_every_header_stands_alone(self):
        with tempfile.TemporaryDirectory(prefix="duewheel-install-") as temporary:
            folder = pathlib.Path(temporary)
            self.run_it(options.cmake, "--install", options.build, "--prefix", folder / "prefix", "--component", "timers")
            installed = {str(path.relative_to(folder / "prefix/include"))
                         for path in (folder / "prefix/include").rglob("*.h")}
            self.assertEqual(installed, set(headers()))
            # The installed tree names no place outside of it that may be gone.
            for path in (folder / "prefix").rglob("*.cmake"):
                self.assertNotIn(str(ROOT), path.read_text(), path)
                self.assertNotIn(str(options.build), path.read_text(), path)

            outside = folder / "outside"
            (outside / "headers").mkdir(parents=True)
            for name in ("CMakeLists.txt", "outside.cc"):
                (outside / name).write_text((ROOT / "tests/outside" / name).read_text())
            for header in headers():
                (outside / "headers" / (re.sub(r"\W", "_", header) + ".cc")).write_text(source(header))
            (outside / "headers/main.cc").write_text(main_source(headers()))
            self.configure(outside, folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")
            self.run_it(options.cmake, "--build", folder / "build", "-j", os.environ.get("DUEWHEEL_JOBS", "2"))
            self.run_it(folder / "build/headers")
            # Nine o'clock in Oslo is eight in UTC, which is when the wheel begins to turn: not at its tick 0.
            self.assertEqual(self.run_it(folder / "build/outside"), "9 at 86400\n9 at 172800\n9 at 259200\ntick\ntick\n")

    def test_a_project_that_takes_the_tree_in_gets_the_library_alone(self):
        with tempfile.TemporaryDirectory(prefix="duewheel-embedded-") as temporary:
            folder = pathlib.Path(temporary)
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.22)\nproject(embedding LANGUAGES CXX)\n"
                f"add_subdirectory({ROOT} duewheel)\n"
                "foreach(name shared_test turning_wheels)\n"
                "  if(TARGET ${name})\n    message(FATAL_ERROR \"${name} is built too\")\n  endif()\nendforeach()\n"
                "get_target_property(aliased duewheel::timers ALIASED_TARGET)\n"
                "if(NOT aliased STREQUAL duewheel_timers)\n  message(FATAL_ERROR \"no duewheel::timers\")\nendif()\n")
            self.configure(folder, folder / "build")

    def test_the_wheels_need_neither_cctz_nor_anything_to_link(self):
        nothing = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("Cctz", "GTest", "rapidcheck", "Boost")]
        with tempfile.TemporaryDirectory(prefix="duewheel-wheels-") as temporary:
            folder = pathlib.Path(temporary)
            self.configure(ROOT, folder / "build", *nothing)
            self.run_it(options.cmake, "--build", folder / "build")
            self.run_it(options.cmake, "--install", folder / "build", "--prefix", folder / "prefix", "--component",
                        "timers")
            outside = folder / "outside"
            (outside / "headers").mkdir(parents=True)
            (outside / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.22)\nproject(wheels LANGUAGES CXX)\n"
                "find_package(duewheel REQUIRED COMPONENTS wheels)\n"
                "find_package(duewheel QUIET COMPONENTS timers)\n"
                "if(duewheel_FOUND)\n  message(FATAL_ERROR \"there are timers\")\nendif()\n"
                "file(GLOB sources headers/*.cc)\nadd_executable(wheels ${sources})\n"
                "target_link_libraries(wheels PRIVATE duewheel::wheels)\n"
                "target_compile_options(wheels PRIVATE -UNDEBUG)\n")
            for header in WHEELS:
                (outside / "headers" / (re.sub(r"\W", "_", header) + ".cc")).write_text(source(header))
            (outside / "headers/main.cc").write_text(main_source(WHEELS))
            self.configure(outside, folder / "outside-build", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", *nothing)
            self.run_it(options.cmake, "--build", folder / "outside-build")
            self.run_it(folder / "outside-build/wheels")

    def test_the_folder_needs_neither_the_tree_around_it_nor_the_packages_of_the_tests(self):
        with tempfile.TemporaryDirectory(prefix="duewheel-alone-") as temporary:
            folder = pathlib.Path(temporary)
            shutil.copytree(ROOT, folder / "timers")
            self.configure(folder / "timers", folder / "build", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
                           "-DCMAKE_DISABLE_FIND_PACKAGE_rapidcheck=ON")
            self.run_it(options.cmake, "--build", folder / "build", "--target", "turning_wheels", "-j", os.environ.get("DUEWHEEL_JOBS", "2"))

    def test_every_header_a_user_begins_with_has_an_example(self):
        for header in headers():
            self.assertEqual(bool(example(header)), header not in INNER, header)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
