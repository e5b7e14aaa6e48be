"""Draws a run of `durable --only peers` as SVG, with matplotlib: one panel a row, one bar a server with its minimum and
maximum."""

import sys

from durable.peer_tables import Run, name_of

PANELS = (("puts, C++ client", "puts/s, C++ load program"), ("puts", "puts/s, usual client"),
          ("put, delivered, acknowledged", "put, delivered when due, acknowledged: messages/s"),
          ("puts and cancels", "puts and cancels/s"), ("lateness, p99", "lateness at 200 messages/s, p99, ms"),
          ("puts in batches", "puts/s in batches of 500"), ("memory per pending message", "memory per pending message, bytes"),
          ("disk per pending message", "disk per pending message, bytes"))
OWN, OTHER = "#2b6cb0", "#a0aec0"


def draw(result, path):
    """False if the run has none of these rows, or matplotlib is not there."""
    run = Run(result)
    if not run.subjects:
        return False
    try:
        import matplotlib
    except ImportError:
        print("skipped: the plot of the peers (there is no matplotlib: Debian's python3-matplotlib)", file=sys.stderr)
        return False
    matplotlib.use("svg")
    # Texts stay texts, and the same figures give the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "duewheel", "font.size": 8})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(PANELS) // 2, 2, figsize=(11, 12), constrained_layout=True)
    for axis, (row, title) in zip(axes.flat, PANELS):
        found = {name: run.get(row, name) for name in run.subjects}
        drawn = [name for name in run.subjects if found[name] and found[name]["median"] is not None]
        medians = [max(found[name]["median"], 0) for name in drawn]
        spread = [[found[name]["median"] - found[name]["min"] for name in drawn],
                  [found[name]["max"] - found[name]["median"] for name in drawn]]
        bars = axis.barh([name_of(name) for name in drawn], medians, xerr=spread, ecolor="#4a5568", capsize=2,
                         color=[OWN if name.startswith("duewheel") else OTHER for name in drawn])
        axis.bar_label(bars, [f"{value:,.0f}" for value in medians], padding=4)
        axis.set_title(title, loc="left", fontweight="bold")
        axis.invert_yaxis()
        axis.margins(x=0.15)
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.locator_params(axis="x", nbins=5)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{run.result['machine']['cpu']}, {run.result['date']}: median, minimum and maximum", fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True
