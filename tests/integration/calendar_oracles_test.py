"""The calendar against two public cron libraries: croner (JavaScript) and Quartz (Java), around changes of clocks in
every zone of the machine's database.

    calendar_oracles_test.py              three changes a zone, drawn by a seed: some seconds
    calendar_oracles_test.py --all        every change from 2020 to 2037 in every zone

Each library uses its own zone data. First it is asked for its offsets; where they are not the machine's, the stretch is
left out of its comparison, by name. What a library does by its own rules is predicted from our answers under other
policies (docs/calendar.md names each of these differences), and every answer must be the predicted one.

The libraries lie in build/oracles, where `./dev packages` puts the pinned versions; without them, or without node or
java, the comparison is skipped by name.
"""

import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent / "calendar"
ORACLES = HERE.parents[2] / "build" / "oracles"
ANSWERS = pathlib.Path(os.environ["DUEWHEEL_BIN"]) / "calendar_answers" if "DUEWHEEL_BIN" in os.environ else None
CRONER = ORACLES / "node_modules" / "croner"
QUARTZ = ORACLES / "quartz-2.5.2.jar"

ALL = "--all" in sys.argv
SEED = 20261121
SAMPLE = 3
FROM_YEAR, TO_YEAR = 2020, 2038
HOUR, DAY = 3600, 86400

# (rule of the Unix form, the same in Quartz's form or None, days after the change, firings at most). What fires often is
# watched for 36 hours on both sides of the change, what fires rarely for longer after it.
RULES = [
    ("30 2 * * *", "0 30 2 * * ?", 1.5, 60),
    ("15 1 * * *", "0 15 1 * * ?", 1.5, 60),
    ("0 0 * * *", "0 0 0 * * ?", 1.5, 60),
    ("59 23 * * *", "0 59 23 * * ?", 1.5, 60),
    ("*/10 * * * *", "0 */10 * * * ?", 1.5, 500),
    ("30 * * * *", "0 30 * * * ?", 1.5, 100),
    ("0 */2 * * *", "0 0 */2 * * ?", 1.5, 60),
    ("5,35 1-3 * * *", "0 5,35 1-3 * * ?", 1.5, 60),
    ("*/20 2 * * *", "0 */20 2 * * ?", 1.5, 60),
    ("*/30 59 1,23 * * *", "*/30 59 1,23 * * ?", 1.5, 60),
    ("30 0,12 * * 1-5", "0 30 0,12 ? * 2-6", 1.5, 60),
    ("0 3 L * *", "0 0 3 L * ?", 70, 4),
    ("0 12 15W * *", "0 0 12 15W * ?", 70, 4),
    ("0 2 * * SUNL", "0 0 2 ? * 1L", 70, 4),
    ("45 1 * * 0#1", "0 45 1 ? * 1#1", 70, 4),
    ("0 2 * * FRI#L", "0 0 2 ? * 6L", 70, 4),
    ("30 2 * * MON-WED#2", None, 70, 8),
    ("@MONTHLY", "0 0 0 /31 * ?", 70, 4),
    ("0 3 4-6/3 */12 *", "0 0 3 4-6/3 */12 ?", 400, 2),
    ("0 0 1 * MON", None, 40, 10),
    ("0 0 29 2 *", "0 0 0 29 2 ?", 8 * 366, 1),
]

Case = collections.namedtuple("Case", "number rule zone change begin end most")


def run(command, lines=()):
    done = subprocess.run([str(part) for part in command], input="".join(line + "\n" for line in lines), text=True,
                          capture_output=True, timeout=800)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout.splitlines()


def read_zones():
    """{name: [(second, offset), ...]} of every zone; the first pair is the beginning of the years compared."""
    zones = {}
    for line in run([ANSWERS, "zones", FROM_YEAR, TO_YEAR]):
        name, spans = line.split("\t")
        zones[name] = [tuple(int(part) for part in span.split(":")) for span in spans.split(" ")]
    return zones


def zones_apart(zones):
    """Zones by their changes: {changes: names}. Zones of one group answer alike, as our schedules know nothing else."""
    groups = collections.defaultdict(list)
    for name in sorted(zones):
        groups[tuple(zones[name])].append(name)
    return groups


def offset_at(spans, second):
    return [offset for begin, offset in spans if begin <= second or begin == spans[0][0]][-1]


class Oracle:
    """One library: how to ask it, and where its zone data is the machine's."""

    def __init__(self, name, command, zones, loses_after_long_gaps=False):
        self.name = name
        self.command = command
        self.loses_after_long_gaps = loses_after_long_gaps
        self.zones = zones
        self.version = run([*command, "version"])[0]
        self.differs = {}  # zone -> seconds at which its offset is another, or None where it does not know the zone
        self.compare_offsets(zones)

    def compare_offsets(self, zones):
        looks = {}
        for name, spans in zones.items():
            ends = [second for begin, _ in spans[1:] for second in (begin - 1, begin)]
            # Changes that only the library knows are seen by a look every ten days.
            looks[name] = sorted({*ends, *range(spans[0][0], spans[0][0] + 18 * 365 * DAY, 10 * DAY)})
        answers = run([*self.command, "offsets"],
                      [name + "\t" + " ".join(map(str, seconds)) for name, seconds in looks.items()])
        for line in answers:
            name, found = line.split("\t")
            if found == "unknown":
                self.differs[name] = None
                continue
            wrong = [second for second, offset in zip(looks[name], found.split(), strict=True)
                     if offset_at(zones[name], second) != int(offset)]
            if wrong:
                self.differs[name] = wrong
        assert len(answers) == len(zones)

    def knows(self, case):
        if case.zone not in self.differs:
            return True
        wrong = self.differs[case.zone]
        # Looks are ten days apart, so a difference reaches that far.
        return wrong is not None and not any(case.begin - 10 * DAY <= second <= case.end + 10 * DAY for second in wrong)

    def firings(self, cases):
        return firings([*self.command, "firings"], cases, "skip", "first")


def firings(command, cases, skipped, repeated):
    """{number: [second, ...]}"""
    questions = [f"{case.number}\t{case.rule}\t{case.zone}\t{skipped}\t{repeated}\t{case.begin}\t{case.end}\t{case.most}"
                 for case in cases]
    answers = {}
    for line in run(command, questions):
        number, found = line.split("\t")
        answers[int(number)] = [int(second) for second in found.split()]
    assert len(answers) == len(cases)
    return answers


def ours(cases, skipped, repeated):
    return firings([ANSWERS, "firings"], cases, skipped, repeated)


def jumps(spans):
    """(second, how far local clocks jump there) of each change."""
    return [(second, after - before) for (_, before), (second, after) in zip(spans, spans[1:])]


def lost_after_long_gap(spans, expected, found):
    """Whether all that is missing lies on a local day after a gap of more than an hour in it, and nothing is too much."""
    days = [(second, second + DAY - (second + offset_at(spans, second)) % DAY)
            for second, jump in jumps(spans) if jump > HOUR]
    missing = set(expected) - set(found)
    return set(found) <= set(expected) and all(any(begin <= one < end for begin, end in days) for one in missing)


def gaps_to_midnight(spans):
    """The seconds at which a gap ends and a local day begins."""
    return [second for second, jump in jumps(spans) if jump > 0 and (second + offset_at(spans, second)) % DAY == 0]


def quartz_firings(spans, default, skipping, both):
    """What Quartz makes of our answers: nothing in a gap, of two passes the second. And where a gap ends at midnight, it
    loses the day after it when the rule means a skipped time or fired in the hour before: it looks for the next hour
    of the day and is put into the next day, and from there goes on to a day after that."""
    first_passes = [(second + jump, second) for second, jump in jumps(spans) if jump < 0]
    lost_days = [(second, second + DAY) for second in gaps_to_midnight(spans)
                 if (second in default and second not in skipping) or any(second - HOUR <= one < second for one in both)]
    return [one for one in both if not any(begin <= one < end for begin, end in first_passes + lost_days)], bool(lost_days)


class CalendarTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.zones = read_zones()
        cls.groups = zones_apart(cls.zones)
        cls.representatives = {names[0]: spans for spans, names in cls.groups.items()}

    def cases(self, oracle, rules):
        """Around the changes of a zone of each group; of the group's names, one whose data the library agrees on."""
        chance = random.Random(SEED)
        cases = []
        for spans, names in self.groups.items():
            zone = min(names, key=lambda name: (name in oracle.differs, name))
            changes = [second for second, _ in spans[1:]]
            if not changes:  # clocks that never change: two days of different years
                changes = [spans[0][0] + chance.randrange(365 * 17) * DAY for _ in range(2)]
            elif not ALL:
                changes = chance.sample(changes, min(SAMPLE, len(changes)))
            for change in changes:
                for rule, days, most in rules:
                    cases.append(Case(len(cases), rule, zone, change, change - 36 * HOUR,
                                      change + int(days * DAY), most))
        return cases

    def compare(self, oracle, rules, predict):
        """`predict(cases)` gives {number: (expected firings, how they differ from our default)}."""
        all_cases = self.cases(oracle, rules)
        cases = [case for case in all_cases if oracle.knows(case)]
        left_out = sorted({case.zone for case in all_cases} - {case.zone for case in cases}
                          | {case.zone for case in all_cases if not oracle.knows(case)})
        predicted = predict(cases)
        answers = oracle.firings(cases)
        explained = collections.Counter()
        wrong = []
        for case in cases:
            expected, why = predicted[case.number]
            if oracle.loses_after_long_gaps and answers[case.number] != expected:
                lost = lost_after_long_gap(self.zones[case.zone], expected, answers[case.number])
                if lost:
                    expected, why = answers[case.number], "lost after a gap of hours"
            if answers[case.number] != expected:
                wrong.append(f"{case.rule} in {case.zone} around {case.change}: we predict {expected}, "
                             f"{oracle.name} says {answers[case.number]}")
            explained[why] += 1
        print(f"{oracle.name}, zone data {oracle.version}: {len(cases)} cases, {sum(map(len, answers.values()))} firings; "
              + ", ".join(f"{count} {why}" for why, count in explained.most_common()) + f"; unexplained {len(wrong)}; "
              f"other zone data around the change in {len(all_cases) - len(cases)} cases: {', '.join(left_out) or 'none'}")
        self.assertFalse(wrong, "\n".join(wrong[:20]))
        self.assertGreater(len(cases), 0.8 * len(all_cases), "the zone data is too different to compare")
        self.assertGreater(explained["as our default"], len(cases) / 3)

    def test_every_zone_is_read(self):
        self.assertGreater(len(self.zones), 500)
        self.assertGreater(len(self.groups), 60)
        changes = sum(len(spans) - 1 for spans in self.groups)
        print(f"{len(self.zones)} zones, {len(self.groups)} of them with changes of their own, {changes} changes")
        self.assertGreater(changes, 900)

    def test_croner(self):
        if shutil.which("node") is None:
            self.skipTest("croner: there is no node")
        if not CRONER.exists():
            self.skipTest("croner: ./dev packages fetches it into build/oracles")
        # An import is looked for above the importing file.
        program = ORACLES / "croner_answers.mjs"
        shutil.copyfile(HERE / "croner_answers.mjs", program)
        oracle = Oracle("croner", ["node", program], self.zones if ALL else self.representatives)

        def predict(cases):
            default = ours(cases, "shift", "first")
            by_the_clock = ours(cases, "skip", "both")
            skipping = ours(cases, "skip", "first")
            predicted = {}
            for case in cases:
                n = case.number
                single = all(field.isdigit() for field in case.rule.split()[:len(case.rule.split()) - 3])
                if not single:
                    same = by_the_clock[n] == default[n]
                    predicted[n] = by_the_clock[n], "as our default" if same else "as our skip and both"
                    continue
                midnights = gaps_to_midnight(self.zones[case.zone])
                late = [second for second in default[n] if second not in skipping[n] and second in midnights]
                expected = [second for second in default[n] if second not in late]
                predicted[n] = expected, "not fired where the gap ends at midnight" if late else "as our default"
            return predicted

        self.compare(oracle, [(rule, days, most) for rule, _, days, most in RULES], predict)

    def test_quartz(self):
        if shutil.which("java") is None:
            self.skipTest("Quartz: there is no java")
        if not QUARTZ.exists():
            self.skipTest("Quartz: ./dev packages fetches it into build/oracles")
        oracle = Oracle("Quartz", ["java", "-cp", QUARTZ, HERE / "QuartzAnswers.java"],
                        self.zones if ALL else self.representatives, loses_after_long_gaps=True)

        def predict(cases):
            default = ours(cases, "shift", "first")
            # More than are asked for, because some of them are taken away.
            more = [case._replace(most=case.most + 200) for case in cases]
            skipping = ours(more, "skip", "first")
            both = ours(more, "skip", "both")
            predicted = {}
            for case in cases:
                n = case.number
                expected, loses_day = quartz_firings(self.zones[case.zone], default[n], skipping[n], both[n])
                expected = expected[:case.most]
                same = expected == default[n]
                why = "as our default" if same else "lost with a day" if loses_day else "skipped, or in the second pass"
                predicted[n] = expected, why
            return predicted

        self.compare(oracle, [(rule, days, most) for _, rule, days, most in RULES if rule], predict)


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"])
