# SPDX-License-Identifier: Apache-2.0
"""A wheel for programs that read: make_wheel.py FOLDER

The Python package with the libraries that read workspaces and archives and compute the twin, of this build, in
ringmaster/lib. It has no server and no other program. Python finds the libraries by their names, so one wheel is for
every Python 3; they are for this kind of machine and its C library or a newer one.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from flit_core.buildapi import build_wheel
from repository import ROOT

LIBRARIES = ("libringmaster.so", "libringmaster-archive.so", "libringmaster-twin.so")
ANYWHERE = "py3-none-any"


def record_line(name: str, data: bytes) -> str:
    """What a wheel's RECORD says of a file."""
    digest = urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def for_this_machine(pure: Path, folder: Path) -> Path:
    """The wheel that flit made, with the libraries in it, under this machine's tag."""
    here = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    out = folder / pure.name.replace(ANYWHERE, here)
    with ZipFile(pure) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    about = next(name for name in files if name.endswith(".dist-info/WHEEL"))
    record = about.replace("/WHEEL", "/RECORD")
    text = files[about].decode().replace(ANYWHERE, here).replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    files[about] = text.encode()
    del files[record]
    for library in LIBRARIES:
        files[f"ringmaster/lib/{library}"] = (ROOT / "build/libexec" / library).read_bytes()
    lines = [record_line(name, data) for name, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    with ZipFile(out, "w", ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return out


def main(folder: Path) -> None:
    """Leaves one wheel in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="ringmaster-wheel-") as made:
        os.chdir(ROOT / "python")
        print(for_this_machine(Path(made) / build_wheel(made), folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
