#!/usr/bin/env python3
"""Names the libraries that auditwheel has put into a wheel, and adds their licences.

usage: wheel_notices.py WHEEL

Writes BUNDLED_LIBRARIES.txt (file, Debian package, version) and the copyright file of each package into the licences
of the wheel.
"""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import zipfile

HEAD = """Shared libraries in this wheel, beside Farfield's own module. Each comes from the Debian package named, whose
licence is in the folder "bundled" beside this file. libcurl.so.4 is part of Farfield and not curl: its functions only
report that they were not built in. Debian's HDF5 needs it to load.

"""


def soname_before(name):
    """libfmt-1f2e3d4c.so.9.1.0, as auditwheel calls it, was libfmt.so.9.1.0."""
    return re.sub(r"-[0-9a-f]{8}(?=\.)", "", name)


def package_of(library):
    """The Debian package that installed `library`, and its version."""
    owners = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True).stdout
    for line in owners.splitlines():
        packages, _, path = line.partition(": ")
        if re.match(r"(/usr)?/lib(/[\w-]+)?/[^/]+$", path):
            package = packages.split(",")[0]
            version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, capture_output=True,
                                     text=True).stdout
            return package, version
    sys.exit(f"wheel_notices: no Debian package has {library}, so that its licence is not known")


def notices(libraries):
    """Texts to add, by name below the folder of licences."""
    rows, texts = [], {}
    for library in sorted(libraries):
        if soname_before(library) == "libcurl.so.4":  # tools/dev/no_curl.c
            continue
        package, version = package_of(soname_before(library))
        rows.append(f"{soname_before(library):28} {package:28} {version}\n")
        copyright_file = pathlib.Path(f"/usr/share/doc/{package.split(':')[0]}/copyright")
        texts[f"bundled/{copyright_file.parent.name}.txt"] = copyright_file.read_text(encoding="utf-8")
    texts["BUNDLED_LIBRARIES.txt"] = HEAD + "".join(rows)
    return texts


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", len(data)]


def main():
    wheel = pathlib.Path(sys.argv[1])
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    names = [info.filename for info, _ in members]
    record = next(name for name in names if name.endswith(".dist-info/RECORD"))
    folder = os.path.dirname(record) + "/licenses/"
    libraries = [os.path.basename(name) for name in names if re.search(r"\.libs/[^/]+\.so", name)]
    added = {folder + name: text.encode() for name, text in notices(libraries).items()}
    contents = {info.filename: data for info, data in members}
    rows = [row for row in csv.reader(io.StringIO(contents[record].decode())) if row]
    rows += [record_row(name, data) for name, data in added.items()]
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(rows)
    changed = wheel.with_suffix(".tmp")
    with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in members:
            if info.filename != record:
                archive.writestr(info, data)
        for name, data in added.items():
            archive.writestr(name, data)
        archive.writestr(record, table.getvalue())
    changed.replace(wheel)


if __name__ == "__main__":
    main()
