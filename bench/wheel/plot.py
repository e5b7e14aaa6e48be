"""Draws the timed rows of a run as SVG: one panel a workload, one bar a subject, on a logarithmic scale."""

import math
from xml.sax.saxutils import escape

BAR, GAP, LABEL, WIDTH, HEAD = 14, 4, 150, 420, 26
OWN, OTHER = "#2b6cb0", "#a0aec0"


def panel(title, bars, top):
    low = min(value for _, value in bars) / 2
    high = max(value for _, value in bars)
    scale = WIDTH / math.log(high / low)
    parts = [f'<text x="0" y="{top + 14}" font-weight="bold">{escape(title)}</text>']
    for index, (name, value) in enumerate(sorted(bars, key=lambda bar: bar[1])):
        y = top + HEAD + index * (BAR + GAP)
        length = max(1, math.log(value / low) * scale)
        colour = OWN if name.startswith("duewheel") else OTHER
        parts.append(f'<text x="{LABEL - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>')
        parts.append(f'<text x="{LABEL + length + 5:.1f}" y="{y + 11}">{value:,.1f}</text>')
    return parts, top + HEAD + len(bars) * (BAR + GAP) + 14


def draw(result, path):
    """False if the run has none of these rows."""
    rows = [row for row in result["rows"] if row["unit"] == "ns of processor time" and " " not in row["workload"]
            and row["median"] is not None]
    panels = sorted({(row["workload"], row["n"]) for row in rows})
    if not panels:
        return False
    parts, top = [], 24
    for workload, n in panels:
        bars = [(row["subject"], max(row["median"], 0.01)) for row in rows if (row["workload"], row["n"]) == (workload, n)]
        drawn, top = panel(f"{workload}, {n:,} timers: ns of processor time an operation", bars, top)
        parts += drawn
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 90}" height="{top}" '
                    f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
                    f'<text x="0" y="12">{escape(result["machine"]["cpu"])}, logarithmic</text>\n'
                    + "\n".join(parts) + "\n</svg>\n")
    return True
