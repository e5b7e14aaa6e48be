#!/usr/bin/env python3
"""Writes an image of the server that `docker load` and `podman load` read, without an engine for containers, a network or root.

    image.py --package FILE.deb --to DIRECTORY

It makes DIRECTORY/duewheel-VERSION-image-ARCH.tar.gz: one layer with the files of the tarball (tarball.py), the C library, the zone database
and the certificate authorities of Debian's packages, and no shell. User, volume, health check and entry point are those of
packaging/Containerfile. Every time is SOURCE_DATE_EPOCH, so the same input gives the same bytes.
"""
import argparse
import datetime
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import tarfile
import tempfile

from sbom import AUTHORITIES, PROGRAMS, ZONES, loaded_libraries, output_of
from tarball import PACKAGING, copy, copy_licenses, copy_programs, unpack, version_of, write_gzip, write_tar

DATA = "var/lib/duewheel"


def instructions():
    """{word: argument} of the container file; of a word that is repeated, the last."""
    text = re.sub(r"\\\n\s*", "", (PACKAGING / "Containerfile").read_text())
    return dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))


def nanoseconds(duration):
    number, unit = re.fullmatch(r"(\d+)([sm])", duration).groups()
    return int(number) * {"s": 1, "m": 60}[unit] * 10**9


def settings():
    said = instructions()
    health, _, probe = said["HEALTHCHECK"].partition(" CMD ")
    options = dict(re.findall(r"--([\w-]+)=(\S+)", health))
    return {
        "User": said["USER"], "WorkingDir": said["WORKDIR"], "Volumes": {said["VOLUME"]: {}}, "ExposedPorts": {f"{said['EXPOSE']}/tcp": {}},
        "StopSignal": said["STOPSIGNAL"], "Entrypoint": json.loads(said["ENTRYPOINT"]), "Env": ["PATH=/usr/bin"],
        "Healthcheck": {"Test": ["CMD", *json.loads(probe)], "Interval": nanoseconds(options["interval"]),
                        "Timeout": nanoseconds(options["timeout"]), "StartPeriod": nanoseconds(options["start-period"]),
                        "Retries": int(options["retries"])},
    }


def make_root(package, user, root):
    programs = [package / "usr/bin" / name for name in PROGRAMS]
    bundled, system = loaded_libraries(programs)
    copy_programs(package, bundled, root / "usr")
    loader = output_of("patchelf", "--print-interpreter", programs[0]).strip()
    for name, file in system.items():
        copy(file, root / (loader[1:] if name == os.path.basename(loader) else f"lib/{name}"), 0o755)
    copy(package / "etc/duewheel/duewheel.toml", root / "etc/duewheel/duewheel.toml")
    shutil.copytree(ZONES, root / ZONES[1:], symlinks=True)
    # The packages of the authorities, and no authority that only this system trusts. The places are those that libcurl and OpenSSL of Debian read.
    authorities = root / "etc/ssl/certs/ca-certificates.crt"
    authorities.parent.mkdir(parents=True)
    authorities.write_text("".join(file.read_text() for file in sorted(pathlib.Path(AUTHORITIES).glob("*.crt"))))
    (root / "usr/lib/ssl").mkdir()
    (root / "usr/lib/ssl/cert.pem").symlink_to("/etc/ssl/certs/ca-certificates.crt")
    (root / "etc/passwd").write_text(f"root:x:0:0::/:/bin/false\nduewheel:x:{user}:{user}::/{DATA}:/bin/false\n")
    (root / "etc/group").write_text(f"root:x:0:\nduewheel:x:{user}:\n")
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
    for name, mode in ((DATA, 0o700), ("tmp", 0o1777)):
        (root / name).mkdir(parents=True)
        (root / name).chmod(mode)
    copy_licenses([*bundled.values(), *system.values(), AUTHORITIES, f"{ZONES}/UTC"], root / "usr/share/doc/duewheel/licenses")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--package", required=True)
    arguments.add_argument("--to", type=pathlib.Path, required=True)
    options = arguments.parse_args()
    os.umask(0o022)
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    created = f"{datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    version, architecture = version_of(options.package)
    user = int(settings()["User"].partition(":")[0])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        make_root(unpack(options.package, scratch / "package"), user, scratch / "root")
        layer = io.BytesIO()
        write_tar(scratch / "root", layer, {DATA: user})
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    configuration = json.dumps({
        "architecture": architecture, "os": "linux", "created": created, "config": settings(),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": created, "created_by": "packaging/image.py"}]}, sort_keys=True).encode()
    name = hashlib.sha256(configuration).hexdigest()
    manifest = [{"Config": f"{name}.json", "RepoTags": [f"duewheel:{version}"], "Layers": [f"{digest}.tar"]}]

    def write(stream):
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for entry, content in (("manifest.json", json.dumps(manifest).encode()), (f"{name}.json", configuration),
                                   (f"{digest}.tar", layer.getvalue())):
                header = tarfile.TarInfo(entry)
                header.size, header.mtime = len(content), epoch
                archive.addfile(header, io.BytesIO(content))

    write_gzip(options.to / f"duewheel-{version}-image-{architecture}.tar.gz", write)


if __name__ == "__main__":
    main()
