#!/usr/bin/env python3
"""The package of this client as its users get it: checks.py package

The folder alone is built with warnings as errors, and installed. An empty project finds it, compiles each public header by
itself, and runs all examples of README.md on a real server. CXX names the compiler, DUEWHEEL_BIN the folder of duewheeld.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WITHIN_S = 600
# What the examples of README.md print, among other things.
PRINTED = ("scheduled\n", "cancelled\n", "1 already_cancelled: ", 'done "ben"\n', "cleo done\n", "ready\nready\n", "finn done\n")
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(shop LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
add_compile_options(-Wall -Wextra -Werror)
add_executable(shop shop.cc {headers})
add_executable(shop_test shop_test.cc)
{blocks}
target_link_libraries(shop PRIVATE duewheel::client_testing)
"""


def run(*words):
    done = subprocess.run([*map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WITHIN_S, check=False)
    if done.returncode:
        sys.exit(f"{words}\n{done.stdout}")
    return done.stdout


def configure_and_build(source, build, *more):
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *more)
    run("cmake", "--build", build, "-j", os.environ.get("DUEWHEEL_JOBS", "1"))


def package():
    with tempfile.TemporaryDirectory(prefix="duewheel-cpp-") as name:
        place = pathlib.Path(name)
        shutil.copytree(HERE, place / "client")
        configure_and_build(place / "client", place / "client-build", "-DDUEWHEEL_WERROR=ON")
        run("cmake", "--install", place / "client-build", "--prefix", place / "prefix", "--component", "client")
        for file in (place / "prefix").rglob("*.cmake"):
            assert str(HERE) not in file.read_text() and str(place / "client") not in file.read_text(), file
        words = (HERE / "README.md").read_text()
        build_blocks = "".join(re.findall(r"^```cmake\n(.*?)^```", words, re.DOTALL | re.MULTILINE))
        blocks = re.findall(r"^```cpp\n(.*?)^```", words, re.DOTALL | re.MULTILINE)
        test, = [block for block in blocks if "TEST_F" in block]
        top, *body = [block for block in blocks if block != test]
        shop = place / "shop"
        shop.mkdir()
        body = "".join(body).replace('"http://127.0.0.1:7420"', "server.url()")
        (shop / "shop.cc").write_text(f"#include <duewheel/client/testing.h>\n{top}\nint main() {{\n    dw::TestServer server;\n{body}}}\n")
        (shop / "shop_test.cc").write_text(test)
        headers = sorted(path.name for path in (place / "prefix/include/duewheel/client").glob("*.h"))
        for header in headers:
            (shop / f"{header}.cc").write_text(f"#include <duewheel/client/{header}>\n#include <duewheel/client/{header}>\n")
        (shop / "CMakeLists.txt").write_text(PROJECT.format(headers=" ".join(f"{header}.cc" for header in headers), blocks=build_blocks))
        configure_and_build(shop, place / "shop-build", f"-DCMAKE_PREFIX_PATH={place / 'prefix'}")
        said = run(place / "shop-build/shop")
        missing = [text for text in PRINTED if text not in said]
        if missing:
            sys.exit(f"{said}\nnot printed: {missing}")
        run(place / "shop-build/shop_test")


if __name__ == "__main__":
    if sys.argv[1:] != ["package"]:
        sys.exit(__doc__)
    package()
