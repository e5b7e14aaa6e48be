#!/usr/bin/env python3
"""The tests of this client that are no conformance scenarios: checks.py units | models | readme

    units    Maven builds all modules with all warnings as errors, and runs their unit tests
    models   the classes of options and answers are what generate.py makes of the server's description
    readme   an empty project that depends on the artifacts runs all examples of README.md on a real server

Exit code 77: there is no JDK, no Maven, or what it needs was not fetched.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import build

WITHIN_S = 600
# What the examples of README.md print, among other things.
PRINTED = ("scheduled", "cancelled\n", "already_cancelled: ", 'done {"to":"ben"}', "ready\nready\n", "\ndone\n", "reminded of 7")
SHOP_TEST = """import duewheel.*;
import duewheel.test.*;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;

@org.junit.jupiter.api.extension.ExtendWith(DuewheelExtension.class)
class ShopTest {
    @Test
    void listens(DuewheelServer server) {
        try (var context = SpringApplication.run(Shop.class, "--duewheel.url=" + server.url())) {
            context.getBean(Shop.class).remind(new Shop.Order(7));
            server.advance(Duration.ofDays(1));
            System.out.println(server.client().await(Which.keyed("reminders", "order 7"), Duration.ofSeconds(30)).result());
        }
    }
}
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>org.springframework.boot</groupId>
        <artifactId>spring-boot-dependencies</artifactId>
        <version>{boot}</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    {dependencies}
    <dependency>
      <groupId>duewheel</groupId>
      <artifactId>duewheel-spring-boot-starter</artifactId>
      <version>0.1.0</version>
    </dependency>
  </dependencies>
</project>
"""


def run(*words, cwd=build.HERE):
    """The exit code and what the program printed."""
    done = subprocess.run([*map(str, words)], text=True, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WITHIN_S, check=False,
                          env=dict(os.environ, DUEWHEEL_STORE_SEGMENT_SIZE="4MiB"))
    return done.returncode, done.stdout


@contextlib.contextmanager
def alone():
    """Maven builds into folders that all tests share."""
    with open(build.PLACE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def units():
    with alone():
        return run(*build.maven("install"))


def models():
    return run(sys.executable, build.HERE / "generate.py")


def readme():
    """The examples are the body of one method; those that begin with imports are files of their own."""
    text = (build.HERE / "README.md").read_text()
    dependencies = "".join(re.findall(r"^```xml\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    blocks = re.findall(r"^```java\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    test, = [block for block in blocks if "class ReminderTest" in block]
    shop, = [block for block in blocks if "class Shop" in block]
    body = "".join(block for block in blocks if "\nimport " not in "\n" + block).replace('"http://127.0.0.1:7420"', "server.url()")
    examples = ("import duewheel.*;\nimport duewheel.test.*;\nimport java.time.Duration;\nimport java.util.List;\n\n"
                "@org.junit.jupiter.api.extension.ExtendWith(DuewheelExtension.class)\nclass ExamplesTest {\n"
                f"@org.junit.jupiter.api.Test void examples(DuewheelServer server) throws Exception {{\n{body}}}\n}}\n")
    pom = build.HERE / "pom.xml"
    plugins = re.search(r"  <build>.*?</build>\n", pom.read_text(), re.DOTALL)[0]
    boot, = re.findall(r"<spring-boot.version>(.*?)<", pom.read_text())
    with alone(), tempfile.TemporaryDirectory() as name:
        code, said = run(*build.maven("install", "-DskipTests", "-pl", "duewheel-spring-boot-starter", "-am"))
        if code:
            return code, said
        project = pathlib.Path(name)
        sources = project / "src" / "test" / "java"
        sources.mkdir(parents=True)
        (project / "pom.xml").write_text(POM.format(dependencies=dependencies, boot=boot).replace("</project>\n", f"{plugins}</project>\n"))
        (sources / "ReminderTest.java").write_text(test)
        (sources / "ExamplesTest.java").write_text(examples)
        (sources / "shop").mkdir()
        (sources / "shop" / "Shop.java").write_text("package shop;\n\n" + shop)  # Spring scans its package
        (sources / "shop" / "ShopTest.java").write_text("package shop;\n\n" + SHOP_TEST)
        code, said = run(*[word for word in build.maven("test") if word != "-q"], cwd=project)
    missing = [each for each in (*PRINTED, "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0") if each not in said]
    return code or len(missing), f"{said}\nnot printed: {missing}"


CHECKS = {"units": units, "models": models, "readme": readme}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.stderr.write(__doc__)
        return 2
    if sys.argv[1] != "models" and build.missing():
        print(f"skipped: {build.missing()}")
        return build.SKIPPED
    code, said = CHECKS[sys.argv[1]]()
    if code:
        print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
