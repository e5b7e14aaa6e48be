"""Where scenarios run, one after the other: a server in a temporary directory, the proxy before it, and an adapter's process.

An environment is used by one thread.
"""

import functools
import http.client
import json
import pathlib
import ssl
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "integration"))
from certificates import Authority  # noqa: E402
from daemon import BIN, Daemon  # noqa: E402

from adapter import Adapter  # noqa: E402
from impostors import impostors  # noqa: E402
from proxy import Proxy  # noqa: E402


class Environment:
    """settings: the `server` of a scenario (README.md, "A server of its own")."""

    def __init__(self, adapter_command, settings):
        self.command = adapter_command
        self.daemon = Daemon(arguments=["--test-clock", *settings.get("arguments", [])])
        self.variables = {"data": str(self.daemon.data)}
        self.token = self.context = None
        self.scheme, self.impostors = "http", {}
        if settings.get("tokens"):
            self.require_tokens()
        if settings.get("tls"):
            self.speak_tls()
        self.proxy = Proxy()
        self.connection = self.adapter = None
        self.start_server()
        self.adapter = Adapter(adapter_command)

    def require_tokens(self):
        self.daemon.arguments.append("--auth-required")
        self.daemon.data.mkdir()
        made = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", self.daemon.data, "--admin"],
                              capture_output=True, text=True, timeout=60, check=True)
        self.token = self.variables["admin_token"] = made.stdout.strip()

    def speak_tls(self):
        authority = Authority(self.daemon.directory)
        certificate, key = authority.issue("server")
        self.daemon.arguments += ["--tls-certificate", str(certificate), "--tls-key", str(key)]
        self.context = authority.client_context()
        self.variables["ca"] = str(authority.certificate)
        self.impostors = impostors(authority)
        self.variables.update((name, each.url) for name, each in self.impostors.items())
        self.scheme = "https"

    def start_server(self):
        self.daemon.start()
        self.proxy.server_port = self.daemon.port
        self.variables["server_url"] = f"{self.scheme}://127.0.0.1:{self.daemon.port}"
        self.variables["proxy_url"] = f"http://127.0.0.1:{self.proxy.port}"

    def stop_server(self, how):
        """how: stop or kill."""
        if not self.daemon.process:
            return
        self.proxy.server_port = 0
        self.disconnect()
        if how == "kill":
            self.daemon.kill()
        else:
            self.daemon.terminate()

    def restart_adapter(self, command=None):
        self.adapter.kill()
        self.command = command or self.command
        self.adapter = Adapter(self.command)

    def recover(self, calls_in_progress):
        """Prepares for the next scenario after one that failed, wherever it stopped."""
        self.proxy.clear()
        if calls_in_progress:
            self.restart_adapter()
        if not self.daemon.process or self.daemon.process.poll() is not None:
            self.disconnect()
            self.start_server()

    def request(self, line, value=None):
        """(status, JSON or text) of a request straight to the server, `line` such as "GET /v1/stats"."""
        method, path = line.split(" ", 1)
        if not self.connection:
            self.connection = (http.client.HTTPSConnection("127.0.0.1", self.daemon.port, timeout=60, context=self.context)
                               if self.context else http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=60))
        fields = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if value is not None:
            fields["Content-Type"] = "application/json"
        try:
            self.connection.request(method, path, None if value is None else json.dumps(value), fields)
            response = self.connection.getresponse()
            body = response.read().decode()
        except (OSError, http.client.HTTPException, ssl.SSLError):
            self.disconnect()
            raise
        return response.status, json.loads(body) if "json" in response.getheader("Content-Type", "") else body

    @functools.cached_property
    def offers(self):
        """What this server offers beyond the first release, by the names that scenarios need: the members of its API."""
        _, document = self.request("GET /openapi.json")
        words = set()
        collect_names(document, words)
        return words

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def close(self):
        if self.adapter:
            self.adapter.kill()
        self.disconnect()
        self.proxy.close()
        for each in self.impostors.values():
            each.close()
        self.daemon.__exit__()


def collect_names(document, words):
    """Adds the names of all properties and parameters of an OpenAPI document."""
    if isinstance(document, dict):
        words.update(document.get("properties", {}) if isinstance(document.get("properties"), dict) else ())
        if isinstance(document.get("name"), str) and "in" in document:
            words.add(document["name"])
        for each in document.values():
            collect_names(each, words)
    elif isinstance(document, list):
        for each in document:
            collect_names(each, words)


def until(deadline_s, holds):
    """Polls holds(), a list of mismatches, until it is empty or the time is over; its last value."""
    deadline = time.monotonic() + deadline_s
    while True:
        found = holds()
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.02)
