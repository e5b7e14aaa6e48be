"""docs/tutorial/4_kafka_and_standby.md as pasted, with a broker and two nodes on free ports."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from cluster import TOOLS, free_ports, skip_without_kafka

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import doc_pages  # noqa: E402


class Page(unittest.TestCase):
    maxDiff = None

    def test_kafka_and_a_standby_node(self):
        broker, node1, node2 = map(str, free_ports(3))
        with tempfile.TemporaryDirectory(prefix="duewheel-cluster-") as directory:
            tool = f"tools/kafka_cluster.py --directory {directory}/cluster"
            try:
                doc_pages.check(self, doc_pages.ROOT / "docs" / "tutorial" / "4_kafka_and_standby.md", {
                    "tools/kafka_cluster.py start": f"{tool} start --port {broker}", "tools/kafka_cluster.py run": f"{tool} run",
                    "tools/kafka_cluster.py remove": f"{tool} remove", "9092": broker, "7421": node1, "7422": node2})
            finally:
                subprocess.run([TOOLS / "kafka_cluster.py", "--directory", f"{directory}/cluster", "remove"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
