#!/usr/bin/env python3
"""The language of values in scenarios: what is filled in, what meets an expectation, and which steps are refused as written."""

import unittest

from expectations import at, fill, mismatches, seconds
from steps import faults_of_step


class Expectations(unittest.TestCase):
    def test_an_object_may_have_more_members_and_no_fewer(self):
        self.assertEqual(mismatches({"a": 1}, {"a": 1, "b": 2}), [])
        self.assertEqual(mismatches({"a": 1, "b": 2}, {"a": 1}), ["result.b: expected 2, and there is none"])
        self.assertEqual(mismatches({"a": {"$absent": True}}, {"b": 1}), [])
        self.assertEqual(mismatches({"a": {"$absent": True}}, {"a": 1}), ["result.a: expected none, and it is 1"])

    def test_a_list_has_the_same_length(self):
        self.assertEqual(mismatches([{}, {}], [{"a": 1}, {"b": 2}]), [])
        self.assertEqual(len(mismatches([], [1])), 1)

    def test_values_of_another_type_are_not_equal(self):
        for expected, actual in ((1, True), (1, 1.0), (0, False), ("1", 1), (None, False), (9007199254740993, 9007199254740993.0)):
            self.assertTrue(mismatches(expected, actual), (expected, actual))

    def test_each_matcher_can_fail(self):
        for matcher, good, bad in (({"$at_least": 2}, 2, 1), ({"$at_most": 2}, 2, 3), ({"$near": [10, 1]}, 11, 12), ({"$matches": "^a"}, "ab", "ba"),
                                   ({"$size": 2}, [1, 2], [1]), ({"$has": [{"a": 1}]}, [{"a": 2}, {"a": 1}], [{"a": 2}]),
                                   ({"$one_of": [1, 2]}, 2, 3), ({"$not": 1}, 2, 1), ({"$at_least": 0}, 0, True)):
            self.assertEqual(mismatches(matcher, good), [], matcher)
            self.assertEqual(len(mismatches(matcher, bad)), 1, matcher)
        with self.assertRaisesRegex(ValueError, "no matcher"):
            mismatches({"$atleast": 1}, 1)

    def test_variables_are_filled_in(self):
        self.assertEqual(fill({"a": "$n", "b": ["${q}-$q", "5 $"]}, {"n": 7, "q": "mail"}), {"a": 7, "b": ["mail-mail", "5 $"]})
        self.assertEqual(fill({"$plus": ["$n", 3]}, {"n": 7}), 10)
        self.assertEqual(fill({"$repeat": ["ab", 2]}, {}), "abab")
        self.assertEqual(fill({"$each": [2, {"body": "no $n"}]}, {}), [{"body": "no 1"}, {"body": "no 2"}])
        with self.assertRaises(KeyError):
            fill("$unset", {})

    def test_paths_and_durations(self):
        self.assertEqual(at({"messages": [{"id": "1"}, {"id": "2"}]}, "messages[1].id"), "2")
        self.assertEqual(seconds("1m30s"), 90)
        with self.assertRaises(AssertionError):
            seconds("90")

    def test_steps_that_are_written_wrongly_are_refused(self):
        for step in ({"cal": "put"}, {"call": "putt", "ok": {}}, {"call": "put"}, {"call": "put", "ok": {}, "error": {"family": "conflict"}},
                     {"call": "put", "error": {"code": "key_conflict"}}, {"call": "put", "ok": {}, "whit": {}}, {"proxy": "explode"},
                     {"server": "restart"}, {"http": "GET /"}):
            self.assertTrue(faults_of_step(step), step)
        self.assertEqual(faults_of_step({"call": "put", "ok": {}, "keep": {}}), [])


if __name__ == "__main__":
    unittest.main()
