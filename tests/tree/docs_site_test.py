#!/usr/bin/env python3
"""Builds the documentation as ./dev docs does, and reads what was built: each link leads to a page and to an anchor of it, no page makes
a browser send a request to another host, and none has a script or a style that the policy of the server forbids."""
import collections
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
MKDOCS = ROOT / "build/docs-python/bin/mkdocs"
LOADS = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.ids, self.forbidden = [], [], collections.Counter(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids[attrs.get("id")] += 1
        if tag in LOADS and attrs.get(LOADS[tag]):
            self.loads.append(attrs[LOADS[tag]])
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if tag == "style" or "style" in attrs or tag == "script" and not ("src" in attrs or attrs.get("type") == "application/json"):
            self.forbidden.append(self.get_starttag_text())


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="duewheel-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        done = subprocess.run([MKDOCS, "build", "--quiet", "--strict", "--config-file", ROOT / "tools/docs/mkdocs.yml", "--site-dir", cls.root],
                              capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.pages = {path: Page(path) for path in cls.root.rglob("*.html")}

    def test_has_all_pages(self):
        for name in ("index", "errors", "http_api", "ARCHITECTURE", "bench/index", "clients/python/index", "decisions/index"):
            self.assertIn(self.root / f"{name}.html", self.pages)
        self.assertIn("queue_full", self.pages[self.root / "errors.html"].ids)
        # The dashboard takes the pages for installed if it finds this link.
        self.assertIn("log_events.html", self.pages[self.root / "index.html"].links)

    # Other tests compare the tables with the code: metrics_test.cc, check_tree.py and packaging_test.py.
    def test_each_metric_log_event_and_alert_has_an_anchor(self):
        rows = {"metrics": r"^\| `(\w+)` \|", "log_events": r"^\| \w+ \| `(\w+)` \|", "operating": r"^\| `(Duewheel\w+)` \|"}
        for name, row in rows.items():
            entries = re.findall(row, (ROOT / f"docs/{name}.md").read_text(), re.MULTILINE)
            self.assertGreater(len(entries), 30, name)
            ids = self.pages[self.root / f"{name}.html"].ids
            self.assertEqual([entry for entry in entries if ids[entry] != 1], [], name)

    def test_pages_in_chinese_say_so_and_the_search_has_their_words(self):
        for name, language in (("index", "en"), ("README.zh-CN", "zh"), ("zh/learning/timing_wheel", "zh"), ("zh/migration/redisson", "zh")):
            self.assertIn(f'<html lang="{language}"', (self.root / f"{name}.html").read_text())
        entries = json.loads((self.root / "search/search_index.json").read_text())["docs"]
        title, = [each["title"] for each in entries if each["location"] == "zh/learning/timing_wheel.html"]
        self.assertEqual(title.split("\u200b"), ["核心", "时间", "轮"])

    def test_loads_only_its_own_files_and_has_no_inline_script_or_style(self):
        for path, page in self.pages.items():
            self.assertEqual(page.forbidden, [], path)
            self.assertGreater(len(page.loads), 3, path)
            for target in page.loads:
                url = urllib.parse.urlsplit(target)
                self.assertEqual(url.scheme + url.netloc, "", f"{path} loads {target}")
                self.assertTrue((path.parent / url.path).is_file(), f"{path} loads {target}")
        for path in self.root.rglob("*.css"):
            self.assertEqual(re.findall(r"(?:@import|url\()[ \"']*(?:https?:)?//[^)]*", path.read_text()), [], path)

    def test_lists_after_a_paragraph_have_an_empty_line_before_them(self):
        for path in self.pages:
            for paragraph in re.findall(r"<p>.*?</p>", path.read_text(), re.DOTALL):
                self.assertNotRegex(paragraph, r"\n(- |1\. )", path)

    def test_links_lead_to_pages_and_anchors(self):
        for path, page in self.pages.items():
            for link in page.links:
                url = urllib.parse.urlsplit(link)
                if url.scheme or url.netloc:
                    continue
                target = (path.parent / url.path).resolve() if url.path else path
                self.assertTrue(target.is_file(), f"{path}: {link}")
                if url.fragment and target in self.pages:
                    self.assertIn(urllib.parse.unquote(url.fragment), self.pages[target].ids, f"{path}: {link}")


if __name__ == "__main__":
    if not MKDOCS.exists():
        print("skipped: what builds the site is not in build/docs-python: run ./dev packages")
        sys.exit(77)
    unittest.main()
