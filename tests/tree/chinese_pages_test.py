"""Holds each Chinese page in step with its English one: docs/zh/PAGE.md with docs/PAGE.md, README.zh-CN.md with README.md.

Sections follow each other in the same order and depth. Each has the same blocks of code, the same code in its sentences, the same figures
("10 million" is "1,000 万"), rows of tables and pictures, and links to the same places, in Chinese where such a page exists. Words are left
to the translator.
"""
import collections
import pathlib
import posixpath
import re
import sys
import unittest
from decimal import Decimal

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_tree  # noqa: E402

# Folders and pages of docs/ that are all in Chinese too.
TRANSLATED = ("cookbook.md", "learning/", "tutorial/")
HEADING = re.compile(r"^(#+) +(.*?) *$", re.MULTILINE)
SPAN = re.compile(r"`[^`]*`")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
MONTHS = "January February March April May June July August September October November December".split()
FIGURE = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(million|billion|万|亿)?")
SCALE = {"": 1, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8}


def english_of(path):
    """The path of the English page of a Chinese one, or None."""
    if path == "README.zh-CN.md":
        return "README.md"
    return path.replace("docs/zh/", "docs/") if path.startswith("docs/zh/") else None


def figures(text):
    """The numbers of a text without code and addresses; a month is its number."""
    text = re.sub(rf"\b({'|'.join(MONTHS)})\b", lambda month: str(MONTHS.index(month[0]) + 1), text)
    return [f"{(Decimal(number.replace(',', '')) * SCALE[unit]).normalize():,f}" for number, unit in FIGURE.findall(text)]


def sections(text):
    """[(level, title, body)]; the first one is what stands before the first heading."""
    code = check_tree.FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    found = [(0, "the beginning", 0, 0)] + [(len(each[1]), each[2], each.start(), each.end()) for each in HEADING.finditer(code)]
    ends = [start for _, _, start, _ in found[1:]] + [len(text)]
    return [(level, title, text[begin:end]) for (level, title, _, begin), end in zip(found, ends)]


def place_of(path, target):
    """Where a link of a page leads: an address, or the path of a file with its anchor."""
    if re.match("[a-z]+:", target):
        return target
    file, mark, anchor = target.partition("#")
    return (posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path) + mark + anchor


def contents(path, body, same_place):
    """What a section has that must be the same in both languages: {what: list}. `same_place(target)` is a link's place in any language."""
    prose = check_tree.FENCED.sub("", body)
    links = [(mark, place_of(path, target)) for mark, _, target in LINK.findall(prose)]
    words = LINK.sub(lambda link: link[2], prose)
    return {
        "blocks of code": check_tree.FENCED.findall(body),
        "code in sentences": sorted(set(SPAN.findall(words))),
        "figures": sorted(figures(re.sub(r"https?://\S+", "", SPAN.sub("", words)))),
        "rows of tables": ["a row"] * len(re.findall(r"^\|", prose, re.MULTILINE)),
        "pictures": sorted(target for mark, target in links if mark),
        "links": sorted(place for mark, target in links if not mark and (place := same_place(target)) is not None),
    }


def differences(pages, path):
    """What is not in step, a line each; `pages` are all texts by path, and `path` is a Chinese one."""
    other = english_of(path)
    if other not in pages:
        return [f"{path}: there is no {other}. Remove the page, or name the English one."]
    chinese, english = sections(pages[path]), sections(pages[other])
    if [level for level, _, _ in chinese] != [level for level, _, _ in english]:
        at = next((number for number, (one, two) in enumerate(zip(chinese, english)) if one[0] != two[0]), min(len(chinese), len(english)))
        return [f"{path}: its headings are not those of {other}, from '{[*english, (0, 'the end', '')][at][1]}' there and "
                f"'{[*chinese, (0, 'the end', '')][at][1]}' here. Give both pages the same headings."]

    def english_place(target):
        """The English place that a link leads to; None for the links between the two pages."""
        file, _, anchor = target.partition("#")
        there = english_of(file) if file in pages else None
        if not anchor:
            return None if (there or file) == other else there or target
        if there not in pages:
            return target
        anchors = dict(zip(check_tree.anchors(pages[file]), check_tree.anchors(pages[there])))
        return f"{there}#{anchors.get(anchor, anchor)}"

    found = []
    for (_, title, body), (_, english_title, english_body) in zip(chinese, english):
        here, there = contents(path, body, english_place), contents(other, english_body, english_place)
        for what in here:
            missing = collections.Counter(there[what]) - collections.Counter(here[what])
            added = collections.Counter(here[what]) - collections.Counter(there[what])
            if missing or added or (what == "blocks of code" and here[what] != there[what]):
                found.append(f"{path}: section '{title}' ('{english_title}' of {other}): {what} differ. "
                             f"Missing here: {list(missing.elements()) or 'none'}. Only here: {list(added.elements()) or 'none'}. "
                             "Change this section as the English one was.")
    translated = {english_of(each) for each in pages if english_of(each)}
    for _, _, target in LINK.findall(check_tree.FENCED.sub("", pages[path])):
        place = place_of(path, target).partition("#")[0]
        if place in translated - {other}:
            found.append(f"{path}: links to {place}, which is there in Chinese. Link to that.")
    return found


def tree_pages():
    """All Markdown pages of the tree by path."""
    return {path: tree.text(path) for tree in [check_tree.Tree(str(ROOT))] for path in tree.paths if path.endswith(".md")}


class ChinesePages(unittest.TestCase):
    def test_each_is_in_step_with_its_english_page(self):
        pages = tree_pages()
        chinese = [path for path in pages if english_of(path)]
        self.assertIn("README.zh-CN.md", chinese)
        found = [line for path in chinese for line in differences(pages, path)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_all_that_must_be_in_chinese_are_there(self):
        pages = tree_pages()
        for path in pages:
            if path.startswith(tuple(f"docs/{each}" for each in TRANSLATED)):
                self.assertIn(path.replace("docs/", "docs/zh/", 1), pages, f"{path} needs a Chinese page")
        self.assertIn("(README.zh-CN.md)", pages["README.md"])
        self.assertIn("(README.md)", pages["README.zh-CN.md"])


ENGLISH = """# A page

[中文](../zh/a/page.md)

On 2 March 2026 it took 10
million puts of 1,024 bytes, see [below](#costs) and [the other page](other.md#more-of-it).

## Costs

It costs `log n`, and [$0.40](https://example.org/9).

| n | cost |
|---|---|
| 8 | 3 |

![a wheel](pictures/wheel.svg)

```sh
# a comment
./dev test 5
```
"""
CHINESE = """# 一页

[English](../../a/page.md)

2026 年 3 月 2 日，它写入了 1,000 万条 1024 字节的消息，参见[下文](#代价)和[另一页](other.md#更多)。

## 代价

代价是 `log n`，以及 [0.40 美元](https://example.org/9)。

| n | 代价 |
|---|---|
| 8 | 3 |

![一个轮](../../a/pictures/wheel.svg)

```sh
# a comment
./dev test 5
```
"""
PAIR = {"docs/a/page.md": ENGLISH, "docs/zh/a/page.md": CHINESE, "docs/a/other.md": "# Other\n\n## More of it\n",
        "docs/zh/a/other.md": "# 其他\n\n## 更多\n"}


class BrokenPairs(unittest.TestCase):
    """The comparison finds each way in which a made-up pair of pages can differ, and nothing if it does not."""

    def found(self, before, after):
        self.assertEqual(CHINESE.count(before), 1, before)
        return differences({**PAIR, "docs/zh/a/page.md": CHINESE.replace(before, after)}, "docs/zh/a/page.md")

    def test_pages_in_step_pass(self):
        self.assertEqual(differences(PAIR, "docs/zh/a/page.md"), [])

    def test_what_differs_is_found_with_its_section(self):
        for before, after, section, what in (
                ("1,000 万", "10 万", "一页", "figures"), ("3 月", "4 月", "一页", "figures"), ("| 8 | 3 |", "| 8 | 4 |", "代价", "figures"),
                ("| 8 | 3 |\n", "", "代价", "rows of tables"), ("`log n`", "`log m`", "代价", "code in sentences"),
                ("test 5", "test 6", "代价", "blocks of code"), ("# a comment", "# 注释", "代价", "blocks of code"),
                ("wheel.svg", "heap.svg", "代价", "pictures"), ("example.org/9", "example.org/8", "代价", "links"),
                ("(#代价)", "(#一页)", "一页", "links"), ("other.md#更多", "other.md#其他", "一页", "links")):
            with self.subTest(after):
                lines = self.found(before, after)
                self.assertTrue(any(f"section '{section}'" in line and f": {what} differ" in line for line in lines), lines)

    def test_a_heading_that_is_missing_or_deeper_is_found(self):
        for before, after in (("## 代价\n", ""), ("## 代价", "### 代价")):
            self.assertIn("'Costs'", self.found(before, after)[0])

    def test_a_link_to_the_english_page_is_found_if_there_is_a_chinese_one(self):
        self.assertIn("which is there in Chinese", self.found("other.md#更多", "../../a/other.md#more-of-it")[0])

    def test_a_page_without_an_english_one_is_found(self):
        self.assertIn("there is no docs/b.md", differences({"docs/zh/b.md": "# 无\n"}, "docs/zh/b.md")[0])


if __name__ == "__main__":
    unittest.main()
