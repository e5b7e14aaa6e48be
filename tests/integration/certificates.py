"""Certificates for the tests of TLS, created in each run with the program openssl."""

import os
import pathlib
import ssl
import subprocess

EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]


def openssl(*arguments):
    run = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


class Authority:
    """A certificate authority in a directory, and what it signs."""

    def __init__(self, directory, name="ca"):
        self.directory = pathlib.Path(directory)
        self.certificate = self.directory / f"{name}.pem"
        self.key = self.directory / f"{name}.key"
        openssl("req", "-x509", *EC, "-days", 3650, "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def issue(self, name, alternative_names="DNS:localhost,IP:127.0.0.1", days=90):
        """(certificate, key), as paths. The same name again replaces both, each in one step."""
        request, extensions = self.directory / f"{name}.csr", self.directory / f"{name}.ext"
        fresh = self.directory / f"{name}.pem.new", self.directory / f"{name}.key.new"
        extensions.write_text(f"subjectAltName={alternative_names}\nbasicConstraints=CA:FALSE\n")
        openssl("req", *EC, "-subj", f"/CN={name}", "-keyout", fresh[1], "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", extensions, "-out", fresh[0])
        for path in fresh:
            os.replace(path, path.with_suffix(""))
        return fresh[0].with_suffix(""), fresh[1].with_suffix("")

    def client_context(self, own=None):
        """Trusts this authority; shows `own`, a pair that issue() returned."""
        context = ssl.create_default_context(cafile=self.certificate)
        if own:
            context.load_cert_chain(*own)
        return context
