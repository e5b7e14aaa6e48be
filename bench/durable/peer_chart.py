"""Draws the picture of the README from the table `peers` of bench/README.md: one panel a row, one bar a server. It is an SVG with colours for
light and dark pages, and needs no library."""

import html
import re

from durable.peer_tables import PROMISE, SYNCED

PANELS = (("puts/s, 64 calls in progress", "puts/s, more is better"),
          ("messages/s put with a delay of 1 s, delivered and acknowledged at the same time", "put, delivered, acknowledged/s, more is better"),
          ("the same: p99", "lateness at 200 messages/s, p99, ms, less is better"),
          ("memory per pending message, bytes", "memory per pending message, bytes, less is better"))
WIDTH, COLUMN, NAME, BAR, LINE, TOP = 900, 446, 204, 150, 20, 34
STYLE = """text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.own { fill: #2b6cb0 }
.synced { fill: #8c959f }
.later { fill: #8c959f; fill-opacity: 0.35; stroke: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .page { fill: #0d1117; stroke: #3d444d }
  .own { fill: #58a6ff }
}"""


def rows_of(page):
    """{words of a row: {server: its cell}} of the Markdown table."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    head = next(number for number, line in enumerate(lines) if line[0] == "")
    servers = [re.sub(r" \(.*\)$", "", name) for name in lines[head][1:]]
    return {line[0]: dict(zip(servers, line[1:])) for line in lines[head + 2:]}


def median(cell):
    """None is what was not measured, or what the server cannot do."""
    found = re.match(r"-?[\d,.]+", cell)
    return max(float(found[0].replace(",", "")), 0) if found else None


def style_of(server, promise):
    return "own" if server.startswith("Duewheel") else "synced" if promise == SYNCED else "later"


def panel(title, values, promises, x, y):
    most = max(value for _, value in values) or 1
    parts = [f'<text class="title" x="{x}" y="{y}">{html.escape(title)}</text>']
    for line, (server, value) in enumerate(values, 1):
        base, width = y + line * LINE, max(value / most * BAR, 1)
        parts += [f'<text x="{x + NAME - 8}" y="{base}" text-anchor="end">{html.escape(server)}</text>',
                  f'<rect class="{style_of(server, promises[server])}" x="{x + NAME}" y="{base - 11}" width="{width:.1f}" height="13"/>',
                  f'<text x="{x + NAME + width + 6:.1f}" y="{base}">{value:,.0f}</text>']
    return parts


def chart(page):
    """The SVG of the page `peers`."""
    rows = rows_of(page)
    drawn = [(title, [(server, value) for server, cell in rows[row].items() if (value := median(cell)) is not None])
             for row, title in PANELS if row in rows]
    parts, y = [], TOP
    for left in range(0, len(drawn), 2):
        pair = drawn[left:left + 2]
        for column, (title, values) in enumerate(pair):
            parts += panel(title, values, rows[PROMISE], 16 + column * COLUMN, y)
        y += max(len(values) for _, values in pair) * LINE + TOP
    for x, style, words in ((16, "own", "Duewheel"), (136, "synced", "on disk before the response"), (356, "later", "in memory before the response")):
        parts += [f'<rect class="{style}" x="{x}" y="{y - 11}" width="13" height="13"/>', f'<text x="{x + 20}" y="{y}">{words}</text>']
    height = y + 18
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n<style>\n{STYLE}\n</style>\n'
            f'<title>Duewheel beside other servers</title>\n<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>\n' + "\n".join(parts) + "\n</svg>\n")
