#!/usr/bin/env python3
"""Writes a bill of materials (SPDX 2.3, JSON) of the Debian packages and the archives: each package of the system whose library the
programs link or an archive contains, and each whose headers were compiled into them, with version, license and checksum.

    sbom.py --build BUILD --package FILE.deb [...] [--tarball FILE] [--image FILE] --to FILE

Nothing is kept by hand: the libraries are those that the loader finds, the headers those that the compiler has read (ninja's
log of dependencies), and what they belong to is what dpkg says. Licenses are taken from the machine-readable copyright files of
Debian; where there is none, or it is not understood, the document says NOASSERTION.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess

PROGRAMS = ("duewheeld", "duewheel")
# What the image contains of the system besides libraries: the certificate authorities and the zone database.
AUTHORITIES, ZONES = "/usr/share/ca-certificates/mozilla", "/usr/share/zoneinfo"
# Debian's short names of licenses that SPDX calls differently.
LICENSES = {"Expat": "MIT", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD2": "BSD-2-Clause",
            "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3+": "GPL-3.0-or-later", "LGPL-2.1": "LGPL-2.1-only",
            "LGPL-2.1+": "LGPL-2.1-or-later", "zlib": "Zlib", "curl": "curl", "BSL-1.0": "BSL-1.0", "Apache-2.0": "Apache-2.0",
            "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause", "CC0-1.0": "CC0-1.0", "or": "OR", "and": "AND"}
# Source packages whose copyright files are prose.
PROSE = {"glibc": "LGPL-2.1-or-later", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1"}


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loaded_libraries(programs):
    """{name: file} of the libraries that the loader loads for the programs: those of other packages, and those of the C library."""
    of_system = {os.path.basename(file) for file in output_of("dpkg-query", "-L", "libc6").split()}
    others, system = {}, {}
    for file in re.findall(r"(/\S+) \(0x", "".join(output_of("ldd", program) for program in programs)):
        name = os.path.basename(file)
        (system if name in of_system else others)[name] = os.path.realpath(file)
    return others, system


def linked_libraries(program):
    """The files of the libraries that a program itself names."""
    needed = re.findall(r"NEEDED\s+(\S+)", output_of("objdump", "-p", program))
    found = dict(re.findall(r"^\s*(\S+) => (\S+)", output_of("ldd", program), re.MULTILINE))
    return {os.path.realpath(found[name]) for name in needed if name in found}


def read_headers(build, program):
    """The files outside of the tree that the compiler read for the objects of a program."""
    objects = {line.strip() for line in output_of("ninja", "-C", build, "-t", "inputs", f"bin/{program}").splitlines()
               if line.strip().endswith(".o")}
    headers, wanted = set(), False
    for line in output_of("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            wanted = line.partition(":")[0] in objects
        elif wanted and line.strip().startswith("/usr/"):
            headers.add(os.path.realpath(line.strip()))
    return headers


def packages_of(files):
    """The installed packages that files belong to."""
    # Before /bin and /lib became links into /usr, dpkg noted some files without it.
    names = sorted({*files, *(file.removeprefix("/usr") for file in files)})
    found = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False).stdout
    return {line.partition(": ")[0].split(",")[0].strip() for line in found.splitlines() if not line.startswith("diversion")}


def license_of(package, source):
    text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
    text = text.read_text(errors="replace") if text.exists() else ""
    stanza = re.search(r"^Files:\s*\*[ \t]*\n(?:.+\n)*?License:[ \t]*(.+)", text, re.MULTILINE)
    if not text.startswith("Format:") or not stanza:
        return PROSE.get(source, "NOASSERTION")
    words = [LICENSES.get(word) for word in stanza[1].split()]
    return " ".join(words) if all(words) else "NOASSERTION"


def checksum_of(package, version):
    """The hash of the archive's own file, from its signed index; empty where the index does not know this version."""
    shown = subprocess.run(["apt-cache", "show", f"{package}={version}"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"^SHA256: (\w+)$", shown, re.MULTILINE)
    return [{"algorithm": "SHA256", "checksumValue": found[1]}] if found else []


def described(package):
    name, version, architecture, source = output_of(
        "dpkg-query", "-W", "-f", "${Package}\n${Version}\n${Architecture}\n${source:Package}", package).split("\n")
    return {
        "name": name, "SPDXID": "SPDXRef-" + re.sub(r"[^\w.-]", "-", name).replace("_", "-"), "versionInfo": version,
        "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": license_of(name, source), "copyrightText": "NOASSERTION",
        "checksums": checksum_of(name, version),
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch={architecture}"}],
    }


def own(package):
    name, version = output_of("dpkg-deb", "-W", "--showformat=${Package}\n${Version}", package).split("\n")
    digest = hashlib.sha256(pathlib.Path(package).read_bytes()).hexdigest()
    return {
        "name": name, "SPDXID": f"SPDXRef-{name}", "versionInfo": version, "packageFileName": pathlib.Path(package).name,
        "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }


def archive(name, file, server):
    """One of the archives, which hold the programs of the package."""
    return {**server, "name": name, "SPDXID": f"SPDXRef-{name}", "packageFileName": pathlib.Path(file).name,
            "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()}]}


def document(build, package_files, tarball, image):
    libraries = packages_of(set().union(*(linked_libraries(f"{build}/bin/{program}") for program in PROGRAMS)))
    headers = packages_of(set().union(*(read_headers(build, program) for program in PROGRAMS)))
    products = [own(file) for file in package_files]
    server = next(product for product in products if product["name"] == "duewheel")
    bundled, system = (packages_of(files.values()) for files in loaded_libraries(f"{build}/bin/{program}" for program in PROGRAMS))
    contents = []
    if tarball:
        contents.append((archive("duewheel-tarball", tarball, server), bundled))
    if image:
        contents.append((archive("duewheel-image", image, server), bundled | system | packages_of([AUTHORITIES, ZONES + "/UTC"])))
    products += [product for product, _ in contents]
    parts = {package: described(package) for package in sorted(libraries.union(headers, *(packages for _, packages in contents)))}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"]) for product in products]
    relations += [(server["SPDXID"], "DYNAMIC_LINK", parts[package]["SPDXID"]) for package in sorted(libraries)]
    relations += [(parts[package]["SPDXID"], "BUILD_DEPENDENCY_OF", server["SPDXID"]) for package in sorted(headers)]
    relations += [(product["SPDXID"], "CONTAINS", parts[package]["SPDXID"]) for product, packages in contents for package in sorted(packages)]
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    digest = server["checksums"][0]["checksumValue"]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"duewheel-{server['versionInfo']}", "documentNamespace": f"https://duewheel.invalid/spdx/{digest}",
        "creationInfo": {"created": f"{created:%Y-%m-%dT%H:%M:%SZ}", "creators": ["Tool: duewheel-sbom"]},
        "packages": [*products, *parts.values()],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations],
    }


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--build", required=True)
    arguments.add_argument("--package", nargs="+", required=True)
    arguments.add_argument("--tarball")
    arguments.add_argument("--image")
    arguments.add_argument("--to", required=True)
    options = arguments.parse_args()
    text = json.dumps(document(options.build, options.package, options.tarball, options.image), indent=2)
    pathlib.Path(options.to).write_text(text + "\n")


if __name__ == "__main__":
    main()
