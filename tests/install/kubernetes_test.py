#!/usr/bin/env python3
"""The manifests of packaging/kubernetes: they follow the schemas of Kubernetes, and the real programs start with their arguments.

Programs are found in the directory that DUEWHEEL_BIN names. Without the Python packages of requirements.txt, which `./dev test full`
installs, the tests are skipped.
"""
import json
import os
import pathlib
import re
import select
import ssl
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "packaging/kubernetes"
PYTHON = ROOT / "build/kubernetes-python/bin"
BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
READ = "import json, sys, yaml; print(json.dumps([part for file in sys.argv[1:] for part in yaml.safe_load_all(open(file))]))"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False, **more)
    if done.returncode:
        raise AssertionError(f"{command} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@unittest.skipUnless(PYTHON.exists(), "the packages of tests/install/requirements.txt are not in build/kubernetes-python")
class Kubernetes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = sorted(MANIFESTS.glob("*.yaml"))
        parts = json.loads(run(PYTHON / "python", "-c", READ, *cls.files))
        cls.parts = {(part["kind"], part["metadata"]["name"]): part for part in parts}
        cls.pods = [cls.parts[kind, name]["spec"]["template"]["spec"]
                    for kind, name in (("StatefulSet", "duewheel"), ("Job", "duewheel-first-token"))]
        cls.server, cls.job = (pod["containers"][0] for pod in cls.pods)

    def test_follow_the_schemas(self):
        run(PYTHON / "kubernetes-validate", "--strict", *self.files)

    def test_services_select_the_pods_and_their_port(self):
        labels = self.parts["StatefulSet", "duewheel"]["spec"]["template"]["metadata"]["labels"]
        ports = {port["name"] for port in self.server["ports"]}
        for name in ("duewheel", self.parts["StatefulSet", "duewheel"]["spec"]["serviceName"]):
            service = self.parts["Service", name]["spec"]
            self.assertLessEqual(service["selector"].items(), labels.items())
            self.assertLessEqual({port["targetPort"] for port in service["ports"]}, ports)

    def test_pods_have_no_rights(self):
        user = int(re.search(r"(?m)^USER (\d+)", (ROOT / "packaging/Containerfile").read_text())[1])
        for pod in self.pods:
            self.assertEqual({pod["securityContext"][key] for key in ("runAsUser", "runAsGroup", "fsGroup")}, {user})
            # Variables such as DUEWHEEL_PORT=tcp://... would be taken for settings.
            self.assertFalse(pod["enableServiceLinks"])
            self.assertFalse(pod["automountServiceAccountToken"])
            for container in pod["containers"]:
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})

    def test_the_programs_start_with_their_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "60",
                   "-subj", "/CN=duewheel", "-addext", "subjectAltName=DNS:duewheel,DNS:localhost")
            run(*new, "-keyout", folder / "tls.key", "-out", folder / "tls.crt")
            (folder / "tls.key").chmod(0o440)
            data = folder / "data"
            data.mkdir()
            data.chmod(0o770)  # what fsGroup leaves
            places = {"/var/lib/duewheel": str(data), "/etc/duewheel/tls": str(folder), "0.0.0.0:7420": "0.0.0.0:0", "$(NAMESPACE)": "shop"}

            def here(argument):
                for there, place in places.items():
                    argument = argument.replace(there, place)
                return argument

            program, *arguments = map(here, self.job["command"])
            token = run(BIN / program, *arguments).strip()
            server = subprocess.Popen([BIN / "duewheeld", "--data", data, *map(here, self.server["args"])],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(server.communicate)
            self.addCleanup(server.kill)
            self.assertTrue(select.select([server.stdout], [], [], 60)[0])
            ready = re.match(r"ready http=\S+:(\d+)", server.stdout.readline())
            self.assertTrue(ready, ready or server.communicate()[1])
            port = ready[1]

            def status(path, headers):
                request = urllib.request.Request(f"https://localhost:{port}{path}", headers=headers)
                context = ssl.create_default_context(cafile=folder / "tls.crt")
                try:
                    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
                        return answer.status
                except urllib.error.HTTPError as refused:
                    return refused.code

            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                get = self.server[probe]["httpGet"]
                self.assertEqual(status(get["path"], {header["name"]: header["value"] for header in get["httpHeaders"]}), 200, probe)
            for host in ("duewheel", "duewheel.shop", "duewheel.shop.svc", "duewheel.shop.svc.cluster.local"):
                self.assertEqual(status("/v1/stats", {"Host": f"{host}:7420", "Authorization": f"Bearer {token}"}), 200, host)
            self.assertEqual(status("/v1/stats", {}), 401)
            server.terminate()
            self.assertEqual(server.wait(self.pods[0]["terminationGracePeriodSeconds"]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
