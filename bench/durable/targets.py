"""What a row should reach, and the table of what was measured. Rows are {(row, subject): row of the run's file}."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """`of` in the row named `row`: at least or at most `limit`; relative to `to`, round by round, if there is one (in `to_row`, if it is
    another)."""
    words: str
    row: str
    of: str
    sign: str
    limit: float
    to: str = ""
    to_row: str = ""

    def text(self):
        return f"{self.sign} {self.limit:g}" + (f" x `{self.to}`" if self.to else "")

    def values(self, rows):
        ours, theirs = rows.get((self.row, self.of)), rows.get((self.to_row or self.row, self.to))
        if ours is None or (self.to and (theirs is None or not all(theirs["values"]))):
            return []
        return [mine / other for mine, other in zip(ours["values"], theirs["values"])] if self.to else ours["values"]

    def measured(self, rows):
        values = self.values(rows)
        if not values:
            return "-"
        # Without a peer it is a count of what must not happen, not even in one round, or a ratio already.
        middle = statistics.median(values) if self.limit else max(values, key=abs)
        met = middle >= self.limit if self.sign == ">=" else middle <= self.limit
        texts = [f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}" for value in (middle, min(values), max(values))]
        spread = "" if texts[1] == texts[2] else f" ({texts[1]} to {texts[2]})"
        return f"{texts[0]}{spread}: {'met' if met else '**missed**'}"


def table(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)) + "\n"


def target_table(targets, rows):
    return table(["figure", "target", "measured"], [[target.words, target.text(), target.measured(rows)] for target in targets])
