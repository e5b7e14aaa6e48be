"""docs/tutorial and docs/cookbook.md, as pasted: each line runs, and prints what the page says. The page on Kafka: tests/kafka."""

import unittest

import doc_pages

TUTORIAL = doc_pages.ROOT / "docs" / "tutorial"


class Pages(unittest.TestCase):
    maxDiff = None

    def test_first_messages_and_a_worker(self):
        doc_pages.check(self, TUTORIAL / "1_first_messages.md")

    def test_schedules_retries_and_dead_letters(self):
        doc_pages.check(self, TUTORIAL / "2_schedules_and_retries.md")

    def test_operating_a_server(self):
        doc_pages.check(self, TUTORIAL / "3_operating.md")

    def test_the_recipes_of_the_cookbook(self):
        doc_pages.check(self, doc_pages.ROOT / "docs" / "cookbook.md", {"8000": str(doc_pages.free_ports(1)[0])})


if __name__ == "__main__":
    unittest.main(verbosity=2)
