"""Draws how the costs of every timer scheme grow, as SVG: one panel a call, one line a scheme, both axes logarithmic.

A line has the colour and the dashes of its scheme in all panels, and its name at its end. The page has a background of its
own, for light and for dark surroundings, and mends its colours to it.
"""

import math
from xml.sax.saxutils import escape

PANELS = (("growth start", "start", "one more timer, N are pending: ns a call"),
          ("growth stop", "stop", "one of the N pending: ns a call"),
          ("growth tick", "tick", "nothing is due, N are pending: ns a tick"),
          ("growth fire", "fire", "N fall due over N ticks: ns a timer and its tick"),
          ("A1, every scheme", "in use", "a stop and a start, N/1000 of them a tick: ns a pair"))
# Name, colour, dashes, and what the literature says of start / stop / tick. Schemes of one kind share a colour.
LINES = {"unordered_list": ("unordered list", "#d1495b", "", "1 / 1 / n"),
         "ordered_list": ("ordered list", "#d1495b", "6 3", "n / 1 / 1"),
         "binary_heap": ("binary heap", "#c77d0a", "", "log n / log n / 1, log n a fire"),
         "quaternary_heap": ("4-ary heap", "#c77d0a", "6 3", "log n / log n / 1, log n a fire"),
         "simple_wheel": ("simple wheel", "#7d8a12", "", "1 / 1 / 1"),
         "hashed_sorted_wheel": ("hashed, sorted", "#2e9e5b", "", "n/slots / 1 / 1"),
         "hashed_rounds_wheel": ("hashed, rounds", "#2e9e5b", "6 3", "1 / 1 / n/slots"),
         "hierarchical_wheel": ("hierarchical", "#1c94a8", "", "levels / 1 / 1"),
         "overflow_wheel": ("overflow wheels", "#1c94a8", "6 3", "levels + log slots / log slots / log slots a slot"),
         "non_cascading_wheel": ("non-cascading", "#9a66cf", "", "levels / 1 / 1"),
         "calendar_wheel": ("calendar wheel", "#9a66cf", "6 3", "1 / 1 / 1"),
         "duration_lanes": ("duration lanes", "#a06a45", "", "log lanes / log lanes / 1, log lanes a fire"),
         "duewheel": ("core wheel, own ids", "#2f74e0", "", "1 / 1 / 1"),
         "duewheel-handles": ("core wheel, handles", "#2f74e0", "6 3", "1 / 1 / 1"),
         "duewheel-intrusive": ("intrusive wheel", "#2f74e0", "2 3", "1 / 1 / 1")}
WIDTH, HEIGHT = 350, 300  # of a panel's field
LEFT, TOP, NAMES, FOOT = 76, 58, 140, 56  # around it
HEAD = 44
LABEL = 11.5  # what a name takes

STYLE = """
.page { fill: #ffffff } .ink { fill: #1f2430 } .faint { fill: #5d6575 } .grid { stroke: #dfe3ea }
.axis { stroke: #5d6575 } .guide { stroke: #aab1be }
.halo { stroke: #ffffff; stroke-width: 2.5; stroke-linejoin: round; paint-order: stroke }
@media (prefers-color-scheme: dark) {
.page { fill: #14171d } .ink { fill: #e6e9ef } .faint { fill: #a4adbc } .grid { stroke: #2c323d }
.axis { stroke: #a4adbc } .guide { stroke: #565e6c } .halo { stroke: #14171d } }
"""


def text(x, y, words, kind="ink", **attributes):
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{more}>{escape(words)}</text>'


def power(exponent):
    """A power of ten as people write it."""
    if exponent < 6:
        return f"{10 ** exponent:,}"
    return "1 million" if exponent == 6 else f"{10 ** (exponent - 6)} million"


def spread(labels):
    """Heights for names that must not lie on each other, as near to where they want to be as may be: [(y, ...)] in, the
    same with new heights out."""
    groups = []  # of names that touch: [sum of wanted heights less the offset, names]
    for label in sorted(labels, key=lambda one: one[0]):
        groups.append([label[0], [label]])
        while len(groups) > 1 and groups[-2][0] + len(groups[-2][1]) * LABEL > groups[-1][0]:
            top, names = groups.pop()
            above, over = groups[-1]
            joined = over + names
            groups[-1] = [sum(one[0] - index * LABEL for index, one in enumerate(joined)) / len(joined), joined]
    return [(top + index * LABEL, *label[1:]) for top, names in groups for index, label in enumerate(names)]


def height_at(points, x):
    for (x_from, y_from), (x_to, y_to) in zip(points, points[1:]):
        if x_from <= x <= x_to:
            return y_from + (y_to - y_from) * (x - x_from) / (x_to - x_from)
    return None


def room_beside(x, y_end, half, lines, taken, top):
    """The height near a line's end at which words of that half width lie on the fewest lines, and on no other words."""
    best = (math.inf, y_end - 7)
    for y in range(int(max(top + 12, y_end - 90)), int(min(top + HEIGHT - 6, y_end + 90)), 2):
        crossed = sum(any((height := height_at(points, x + half * part / 20)) is not None and y - 11 < height < y + 4
                          for part in range(-20, 21)) for points in lines)
        on_words = any(abs(x - other) < half + width and abs(y - height) < LABEL + 2 for other, height, width in taken)
        best = min(best, (abs(y + 3 - y_end) + 22 * crossed + 500 * on_words, y))
    return best[1]


def panel(left, top, title, explanation, curves):
    """`curves` is {scheme: {n: ns}}."""
    sizes = sorted({n for curve in curves.values() for n in curve})
    values = [value for curve in curves.values() for value in curve.values()]
    x_low, x_high = math.log10(sizes[0]), max(math.log10(sizes[-1]), math.log10(sizes[0]) + 1)
    y_low, y_high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    if y_high == y_low:
        y_high += 1

    def x_of(n):
        return left + (math.log10(n) - x_low) / (x_high - x_low) * WIDTH

    def y_of(value):
        return top + HEIGHT - (math.log10(value) - y_low) / (y_high - y_low) * HEIGHT

    parts = [text(left, top - 30, title, font_weight="bold", font_size=15),
             text(left, top - 13, explanation, "faint")]
    for exponent in range(y_low, y_high + 1):
        y = y_of(10 ** exponent)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" class="grid"/>')
        parts.append(text(left - 7, y + 4, power(exponent), "faint", text_anchor="end"))
    for n in sizes:
        x = x_of(n)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + HEIGHT}" class="grid"/>')
        parts.append(text(x, top + HEIGHT + 16, power(round(math.log10(n))), "faint", text_anchor="middle"))
    parts.append(f'<path d="M{left} {top}V{top + HEIGHT}H{left + WIDTH}" fill="none" class="axis"/>')
    parts.append(text(left + WIDTH / 2, top + HEIGHT + 34, "timers pending, N", "faint", text_anchor="middle"))
    parts.append(text(left - 62, top + HEIGHT / 2, "ns of processor time", "faint", text_anchor="middle",
                      transform=f"rotate(-90 {left - 62} {top + HEIGHT / 2:.1f})"))
    # What grows as N does is parallel to this one.
    decades = min(1, y_high - y_low)
    run, climb = decades / (x_high - x_low) * WIDTH, decades / (y_high - y_low) * HEIGHT
    x, y = left + 12, top + climb + 10
    parts.append(f'<line x1="{x}" y1="{y:.1f}" x2="{x + run:.1f}" y2="{y - climb:.1f}" class="guide" '
                 f'stroke-dasharray="1 4" stroke-width="2" stroke-linecap="round"/>')
    parts.append(text(x - 4, y + 15, "as N does", "faint"))
    at_end, early, drawn_lines = [], [], []
    for scheme, curve in curves.items():
        name, colour, dashes, _ = LINES[scheme]
        points = [(x_of(n), y_of(value)) for n, value in sorted(curve.items())]
        drawn_lines.append(points)
        width = 2.4 if scheme.startswith("duewheel") else 1.5
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="{width}" '
                     f'stroke-dasharray="{dashes}" stroke-linejoin="round"/>')
        for x, y in points:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width}" fill="{colour}"/>')
        x, y = points[-1]
        (at_end if max(curve) == sizes[-1] else early).append((y, name, colour, x, y))
    for y, name, colour, x_end, y_end in spread(at_end):
        parts.append(f'<path d="M{x_end + 3:.1f} {y_end:.1f}L{x_end + 16:.1f} {y:.1f}" stroke="{colour}" fill="none" '
                     f'stroke-width="0.8"/>')
        parts.append(text(x_end + 19, y + 4, name, "ink"))
    taken = []
    for y, name, colour, x_end, y_end in sorted(early):
        words = f"{name} (stops here)"
        y = room_beside(x_end, y_end, 3.1 * len(words), drawn_lines, taken, top)
        taken.append((x_end, y, 3.1 * len(words)))
        if abs(y + 3 - y_end) > 12:
            near = y + 3 if y < y_end else y - 10
            parts.append(f'<line x1="{x_end:.1f}" y1="{y_end:.1f}" x2="{x_end:.1f}" y2="{near:.1f}" class="axis" '
                         f'stroke-width="0.8" stroke-dasharray="1 2"/>')
        parts.append(text(x_end, y, words, "ink halo", text_anchor="middle"))
    return parts


def legend(left, top, present):
    parts = [text(left, top - 30, "the schemes", font_weight="bold", font_size=15),
             text(left, top - 13, "start / stop / tick of n timers, from the literature", "faint")]
    for index, scheme in enumerate(name for name in LINES if name in present):
        name, colour, dashes, says = LINES[scheme]
        y = top + 8 + index * 17
        width = 2.4 if scheme.startswith("duewheel") else 1.5
        parts.append(f'<line x1="{left}" y1="{y}" x2="{left + 34}" y2="{y}" stroke="{colour}" stroke-width="{width}" '
                     f'stroke-dasharray="{dashes}"/>')
        parts.append(text(left + 42, y + 4, name))
        parts.append(text(left + 190, y + 4, says, "faint"))
    y = top + 20 + len(present) * 17
    for words in ("A line stops where its next point would take minutes: starts that", "walk a list, ticks that look at "
                  "every timer. Fires and pairs of few", "timers are mostly ticks. Lanes have as many durations as timers."):
        parts.append(text(left, y, words, "faint"))
        y += 15
    return parts


def draw(result, path):
    """False if the run has none of these rows."""
    curves = {}
    for row in result["rows"]:
        if row["unit"] == "ns of processor time" and row["subject"] in LINES and row["median"] is not None:
            curve = curves.setdefault(row["workload"], {}).setdefault(row["subject"], {})
            curve[row["n"]] = max(row["median"], 0.1)
    shown = [one for one in PANELS if one[0] in curves]
    if not shown:
        return False
    cell_width, cell_height = LEFT + WIDTH + NAMES, TOP + HEIGHT + FOOT
    cells = len(shown) + 1
    width, height = 2 * cell_width, HEAD + (cells + 1) // 2 * cell_height
    parts = [text(16, 24, "What timer schemes cost as their timers grow in number", font_weight="bold", font_size=18),
             text(16, 41, f'{result["machine"]["cpu"]}; medians; both axes logarithmic', "faint")]
    order = [name for name in LINES if any(name in curves[one[0]] for one in shown)]
    for index in range(cells):
        left, top = LEFT + index % 2 * cell_width, HEAD + TOP + index // 2 * cell_height
        if index == len(shown):
            parts += legend(left, top, order)
            continue
        workload, title, explanation = shown[index]
        lines = {name: curves[workload][name] for name in order if name in curves[workload]}
        parts += panel(left, top, title, explanation, lines)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
                    f'{height}" font-family="sans-serif" font-size="11">\n<style>{STYLE}</style>\n'
                    f'<rect width="100%" height="100%" class="page"/>\n' + "\n".join(parts) + "\n</svg>\n")
    return True
