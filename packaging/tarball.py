#!/usr/bin/env python3
"""Writes archives of the server for systems without its Debian package, from that package and the build that it was made of.

    tarball.py --package FILE.deb --build BUILD --to DIRECTORY

- duewheel-VERSION-linux-ARCH.tar.gz: the programs with the libraries that they load, except the C library; man pages, completions,
  the service, the configuration, licenses, and an install note.
- duewheel-VERSION-linux-ARCH-debug.tar.gz: the debug information of the programs.

The libraries are the files of Debian's packages, unchanged. Every time in an archive is SOURCE_DATE_EPOCH, so the same input gives
the same bytes. docs/decisions/2026-11-30-libraries-in-the-tarball.md says why it is made this way.
"""
import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from sbom import PROGRAMS, loaded_libraries, output_of, packages_of

PACKAGING = pathlib.Path(__file__).resolve().parent
NOTE = """Duewheel {version} for Linux ({architecture}) with glibc {glibc} or newer.

    tar -C /opt -xzf {name}.tar.gz && ln -sfn {name} /opt/duewheel
    ln -sf /opt/duewheel/bin/duewheel /opt/duewheel/bin/duewheeld /usr/local/bin/
    duewheeld --data ./duewheel-data

As a service: copy etc/duewheel.toml to /etc/duewheel/, and lib/systemd/system/duewheel.service to /etc/systemd/system/.
Time zones are those of the system: package tzdata. So are certificate authorities: /etc/ssl/certs/ca-certificates.crt.
The libraries in lib/duewheel get security updates only with a new archive; their licenses are in share/doc/licenses.
"""


def needed_glibc(files):
    """The newest version of the C library that one of the files needs."""
    symbols = "".join(output_of("objdump", "-T", file) for file in files)
    return "2.{}".format(max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols)))


def copy(source, to, mode=0o644):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)


def copy_programs(package, bundled, prefix):
    """Programs that look for their libraries beside them. DT_RPATH, unlike DT_RUNPATH, also holds for what those libraries load."""
    for name in PROGRAMS:
        copy(package / "usr/bin" / name, prefix / "bin" / name, 0o755)
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib/duewheel", prefix / "bin" / name], check=True)
    for name, file in bundled.items():
        copy(file, prefix / "lib/duewheel" / name)


def copy_licenses(files, to):
    """The copyright files of the packages that files belong to, and the licenses that these refer to."""
    referred = set()
    for package in sorted({package.partition(":")[0] for package in packages_of(files)}):
        copy(f"/usr/share/doc/{package}/copyright", to / package)
        text = (to / package).read_text(errors="replace")
        referred |= set(re.findall(r"/usr/share/common-licenses/([\w-]+(?:\.\d+)?)", text))
    for name in sorted(referred):
        if os.path.exists(f"/usr/share/common-licenses/{name}"):
            copy(f"/usr/share/common-licenses/{name}", to / "common-licenses" / name)


def write_tar(root, stream, owners=()):
    """All that is below `root`, sorted, without anything of this system: everything belongs to root, except what `owners` names."""
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(root.rglob("*")):
            entry = archive.gettarinfo(path, str(path.relative_to(root)))
            entry.uid = entry.gid = dict(owners).get(entry.name, 0)
            entry.uname = entry.gname = ""
            entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
            if not entry.isreg():
                archive.addfile(entry)
                continue
            with open(path, "rb") as content:
                archive.addfile(entry, content)


def write_gzip(file, write):
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, int(os.environ["SOURCE_DATE_EPOCH"])) as packed:
        write(packed)


def make_tree(package, name, version, architecture, prefix):
    bundled, _ = loaded_libraries([package / "usr/bin" / program for program in PROGRAMS])
    copy_programs(package, bundled, prefix)
    for part in ("man", "bash-completion", "zsh", "fish"):
        shutil.copytree(package / "usr/share" / part, prefix / "share" / part)
    copy(package / "etc/duewheel/duewheel.toml", prefix / "etc/duewheel.toml")
    service = prefix / "lib/systemd/system/duewheel.service"
    copy(package / "usr/lib/systemd/system/duewheel.service", service)
    service.write_text(service.read_text().replace("=/usr/bin/duewheeld ", "=/opt/duewheel/bin/duewheeld "))
    copy_licenses(bundled.values(), prefix / "share/doc/licenses")
    copy(PACKAGING.parent / "LICENSE", prefix / "LICENSE")
    glibc = needed_glibc([*(prefix / "bin").iterdir(), *bundled.values()])
    (prefix / "INSTALL").write_text(NOTE.format(name=name, version=version, architecture=architecture, glibc=glibc))


def make_debug_tree(package, build, root):
    """The debug information where gdb looks for it: below a folder that `set debug-file-directory` names."""
    for program in PROGRAMS:
        full, stripped = build / "bin" / program, package / "usr/bin" / program
        build_id, packaged = (re.search(r"Build ID: (\w+)", output_of("readelf", "-n", file))[1] for file in (full, stripped))
        if build_id != packaged:
            raise SystemExit(f"tarball.py: the package was not made of {full}; run ./dev package again")
        place = root / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["objcopy", "--only-keep-debug", full, place], check=True)


def version_of(package):
    """Version without Debian's revision, and architecture."""
    version, architecture = output_of("dpkg-deb", "-W", "--showformat=${Version}\n${Architecture}", package).split("\n")
    return version.rpartition("-")[0], architecture


def unpack(package, to):
    subprocess.run(["dpkg-deb", "-x", package, to], check=True)
    return to


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--package", required=True)
    arguments.add_argument("--build", type=pathlib.Path, required=True)
    arguments.add_argument("--to", type=pathlib.Path, required=True)
    options = arguments.parse_args()
    os.umask(0o022)
    version, architecture = version_of(options.package)
    name = f"duewheel-{version}-linux-{architecture}"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        package = unpack(options.package, scratch / "package")
        make_tree(package, name, version, architecture, scratch / "tree" / name)
        make_debug_tree(package, options.build, scratch / "debug" / f"{name}-debug")
        write_gzip(options.to / f"{name}.tar.gz", lambda stream: write_tar(scratch / "tree", stream))
        write_gzip(options.to / f"{name}-debug.tar.gz", lambda stream: write_tar(scratch / "debug", stream))


if __name__ == "__main__":
    main()
