"""The real server with requests that schemathesis generates from its OpenAPI document, /openapi.json: each response
must be described there."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from contract import PYTHON, Contract, with_lines_as_arrays, with_packages
from daemon import Daemon

CASES = int(os.environ.get("DUEWHEEL_CONTRACT_CASES", "15"))  # of each call, for each way of generating them

# What schemathesis does not know: that lines are JSON objects. Given an array it makes lines, and the other way round.
HOOKS = """
import json
import schemathesis

@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def lines(ctx, value):
    return "".join(json.dumps(each) + "\\n" for each in value).encode() if isinstance(value, list) else json.dumps(value).encode()

@schemathesis.deserializer("application/x-ndjson")
def objects(ctx, response):
    return [json.loads(line) for line in response.content.decode().splitlines()]
"""
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance"]
# A line or a lease that is refused alone is answered with 200 and a problem in its place.
SETTINGS = "[checks]\nenabled = false\n" + "".join(f"{check}.enabled = true\n" for check in CHECKS) + """
negative_data_rejection.expected-statuses = ["4xx"]

[[operations]]
include-path-regex = "(messages:batch|leases:[a-z]+)$"
checks.negative_data_rejection.enabled = false
"""


class Generated(unittest.TestCase):
    def test_each_generated_request_gets_a_response_that_the_contract_names(self):
        with Daemon() as daemon:
            daemon.start()
            contract = Contract(daemon.client())
            place = pathlib.Path(daemon.directory)
            (place / "openapi.json").write_text(json.dumps(with_lines_as_arrays(contract.closed)))
            (place / "hooks.py").write_text(HOOKS)
            (place / "schemathesis.toml").write_text(SETTINGS)
            run = subprocess.run(
                [PYTHON, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run", "openapi.json",
                 "--url", f"http://127.0.0.1:{daemon.port}", "--max-examples", str(CASES), "--exclude-path", "/v1/events",
                 "--generation-deterministic", "--request-timeout", "90", "--no-color"],
                cwd=place, capture_output=True, text=True, timeout=800, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks"})
            output = "\n".join(line[:500] for line in run.stdout.splitlines()) + run.stderr
            self.assertEqual(run.returncode, 0, output)
            print(re.search(r"\d+ generated, \d+ passed", run.stdout)[0])
            self.assertEqual(daemon.client().put("q", "x")[0], 201, "the server goes on")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())


if __name__ == "__main__":
    with_packages()
    unittest.main(verbosity=2)
