# SPDX-License-Identifier: Apache-2.0
"""Builds the library by which `ringmaster gateway epics` posts updates: build_pva.py LIBRARY, by the Python of .venv.

It is C++ on pvxs, whose headers and libraries are in the packages pvxslibs and epicscorelibs. It is linked with the
pvxs that p4p loads, and with no other.
"""

import os
import subprocess
import sys
from pathlib import Path

import epicscorelibs.path
import pvxslibs.path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "gateways/pva/follow.cpp"
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror")
OLD_STRINGS = b"12StaticSource3addERKSs"
"""Of a pvxs that was built with the strings that C++ had before 2011, as those on PyPI are."""


def main() -> None:
    """Compiles and links."""
    to = Path(sys.argv[1])
    headers = (pvxslibs.path.include_path, epicscorelibs.path.include_path)
    pvxs, core = (Path(folder).with_name("lib") for folder in headers)
    library = max(pvxs.glob("libpvxs.so.*"))
    command = [os.environ.get("CXX", "clang++"), "-std=c++17", "-O2", "-fPIC", "-shared", *WARNINGS]
    command += [argument for folder in headers for argument in ("-isystem", folder)]
    if OLD_STRINGS in library.read_bytes():
        command.append("-D_GLIBCXX_USE_CXX11_ABI=0")
    command += ["-o", str(to), str(SOURCE), f"-L{pvxs}", f"-l:{library.name}"]
    command += ["-Wl,--no-undefined", f"-Wl,-rpath-link,{pvxs}:{core}"]
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        status = subprocess.run(command, check=False).returncode
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not there: install clang, or name a C++ compiler in CXX")
    sys.exit(status)


if __name__ == "__main__":
    main()
