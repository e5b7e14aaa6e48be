"""What MkDocs does not know of this tree; a hook of mkdocs.yml.

- Pages beside the code, such as README.md and bench/README.md, are pages of the site as well, and so are their pictures.
- The links are those of the repository, where GitHub shows them. A link to a page that the site has leads there; the name of a
  source file becomes code.
- Pages in Chinese are README.zh-CN.md and those in docs/zh/. When the first exists, each page has a choice of the language.
- The tables of metrics, log events and alerts have an anchor for each name: `/docs/metrics#duewheel_queues`.
- The server forbids inline scripts, so those of the theme become files.
"""
import glob
import hashlib
import pathlib
import posixpath
import re

import jieba
from markdown.extensions import Extension
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

jieba.setLogLevel("WARNING")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
NAMES_IN_TABLES = ("metrics.md", "log_events.md", "operating.md")
PICTURES = (".png", ".svg")


class ShortIndent(Extension):
    """What belongs to an item of a list is indented by two or three columns, as on GitHub, and not by four."""

    def extendMarkdown(self, md):
        md.tab_length = 2
        for processor in md.parser.blockprocessors:
            processor.__init__(md.parser)


def on_config(config):
    config.markdown_extensions.insert(0, ShortIndent())
    return config


def repository_path(src_uri):
    return src_uri if (ROOT / src_uri).is_file() else "docs/" + src_uri


def on_files(files, config):
    def add(path):
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
        return path

    def pages(pattern):
        places = [path for base in (ROOT / "docs", ROOT) for path in glob.glob(pattern, root_dir=base)]
        return sorted(dict.fromkeys(places), key=lambda path: (posixpath.dirname(path), not path.endswith("README.md"), path))

    def section(entries):
        return list(dict.fromkeys(add(page) for pattern in entries for page in pages(pattern)))

    sections = [(title, add(entries) if isinstance(entries, str) else section(entries)) for each in config.nav for title, entries in each.items()]
    config.nav = [{title: found} for title, found in sections if found]
    for page in [file for file in files if file.is_documentation_page() and (ROOT / file.src_uri).is_file()]:
        for link in LINK.finditer(page.content_string):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page.src_uri), link[3]))
            if target.endswith(PICTURES) and not target.startswith("docs/"):
                add(target)
    style = """.md-grid { max-width: 78rem; }
td[id] { white-space: nowrap; }
tr:has(> :target) { background: var(--md-accent-fg-color--transparent); }
"""
    files.append(File.generated(config, "assets/wide.css", content=style))
    if files.get_file_from_path("README.zh-CN.md"):
        config.extra["alternate"] = [{"name": "English", "link": "index.html", "lang": "en"},
                                     {"name": "中文", "link": "README.zh-CN.html", "lang": "zh"}]
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    folder = posixpath.dirname(repository_path(here))

    def adapt(link):
        mark, text, target, anchor = link.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        for known in (path.removeprefix("docs/"), path.removeprefix("docs/") + "/README.md"):
            if files.get_file_from_path(known) and repository_path(known) in (path, path + "/README.md"):
                return f"{mark}[{text}]({posixpath.relpath(known, posixpath.dirname(here) or '.')}{anchor or ''})"
        if "`" in text or "<" in text:
            return text
        return f"`{text}`" if text in path else f"{text} (`{path}`)"

    parts, end = [], 0
    for code in FENCED.finditer(markdown):
        parts += [LINK.sub(adapt, markdown[end:code.start()]), code[0]]
        end = code.end()
    return "".join(parts) + LINK.sub(adapt, markdown[end:])


def on_page_content(html, page, config, files):
    if page.file.src_uri in NAMES_IN_TABLES:
        return re.sub(r"<td>(<code>(\w+)</code>)</td>", r'<td id="\2"><a href="#\2">\1</a></td>', html)


def on_page_context(context, page, config, nav):
    config.theme["language"] = "zh" if re.match(r"zh/|README\.zh-CN", page.file.src_uri) else "en"


def on_post_page(output, page, config):
    def as_file(script):
        name = f"assets/javascripts/{hashlib.sha256(script[1].encode()).hexdigest()[:16]}.js"
        path = pathlib.Path(config.site_dir, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script[1], encoding="utf-8")
        return f'<script src="{get_relative_url(name, page.url)}"></script>'

    return re.sub(r"<script>(.*?)</script>", as_file, output, flags=re.DOTALL)


def on_post_build(config):
    """Removes what needs the address of the site, what only developers of the theme need, and languages that the search does not have."""
    site = pathlib.Path(config.site_dir)
    lunr = set(site.glob("assets/javascripts/lunr/**/*.js")) - set(site.glob("assets/javascripts/lunr/min/lunr.[smz][tuh]*"))
    for path in [site / "404.html", *site.glob("sitemap.xml*"), *site.rglob("*.map"), *lunr]:
        path.unlink()
