# SPDX-License-Identifier: Apache-2.0
"""Installs what was built below a prefix, or takes it away again: install.py [--destdir D] [--uninstall] PREFIX.

    bin/ringmaster, bin/ringmaster-*       the command line; the programs
    lib/…/libringmaster*.so, include/      what other people's programs are built with; lib/…/pkgconfig/ringmaster.pc
    lib/…/ringmaster/ringmaster.cti        the GenTL producer, which viewers of camera images load
    libexec/ringmaster/                    programs and libraries that the command line looks for: links, applications
    lib/ringmaster/python/                 the Python packages that it needs, as they are in .venv
    share/ringmaster/                      the package `ringmaster`, configurations, lattices, examples, the template
    share/man/                             a page for each command and each public header; share/…: completion of shells
    share/ringmaster/installed.txt         all of these, for --uninstall: directories end in a slash

Nothing in there knows the prefix: the tree can be moved, and DESTDIR and prefix may be anything.
"""

import argparse
import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
SITE = ROOT / ".venv/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
SHARE = Path("share/ringmaster")
MANIFEST = SHARE / "installed.txt"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/ringmaster",
    "zsh": "share/zsh/site-functions/_ringmaster",
    "fish": "share/fish/vendor_completions.d/ringmaster.fish",
}
BUILDS_ONLY = ("__pycache__", "meson.build", "*.pyc")
"""What is in our folders and is of no use elsewhere."""


class Tree:
    """A prefix that is being filled; it remembers what it made."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.made: list[str] = []
        self._make(top)

    def _make(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir()
            self.made.append(f"{os.path.relpath(path, self.top)}/")

    def place(self, to: str | Path) -> Path:
        """Where a file is to lie; its folders are there then."""
        path = self.top / to
        self._make(path.parent)
        self.made.append(os.path.relpath(path, self.top))
        return path

    def copy(self, source: Path, to: str | Path) -> None:
        """A file, or a symbolic link as it is."""
        shutil.copy2(source, self.place(to), follow_symlinks=False)

    def copy_all(self, source: Path, to: str | Path, *left_out: str) -> None:
        """A folder, but for what matches a pattern."""
        for path in sorted(source.rglob("*")):
            inside = path.relative_to(source)
            if any(part.match(pattern) for pattern in left_out for part in (inside, *inside.parents)):
                continue
            if path.is_symlink() or path.is_file():
                self.copy(path, Path(to) / inside)

    def link(self, to: str | Path, target: Path) -> None:
        """A relative symbolic link to what is in the tree."""
        path = self.place(to)
        path.symlink_to(os.path.relpath(target, path.parent))

    def close(self) -> None:
        """Writes the list of all that was made."""
        path = self.place(MANIFEST)
        path.write_text("".join(f"{name}\n" for name in self.made))


def install_programs(tree: Tree) -> None:
    """What meson installs; the description for pkg-config finds its prefix by itself."""
    options = subprocess.check_output(["meson", "introspect", "--buildoptions", str(BUILD)], text=True)
    built = next(option["value"] for option in json.loads(options) if option["name"] == "prefix")
    with tempfile.TemporaryDirectory(prefix="ringmaster-install-") as stage:
        command = ["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--destdir", stage]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        tree.copy_all(Path(f"{stage}{built}"), "")
    for path in tree.top.rglob("ringmaster.pc"):
        up = os.path.relpath(tree.top, path.parent)
        text = re.sub(r"^prefix=.*$", f"prefix=${{pcfiledir}}/{up}", path.read_text(), flags=re.MULTILINE)
        path.write_text(text.replace("-L${libdir}", "-L${libdir} -Wl,-rpath,${libdir}"))
    found = (*tree.top.glob("bin/ringmaster-*"), *tree.top.glob("lib/**/libringmaster*.so"))
    pva = BUILD / "libexec/libringmaster-pva.so"
    if pva.exists():  # `make gateways` was asked for
        tree.copy(pva, f"libexec/ringmaster/{pva.name}")
    for path in found:
        if not (tree.top / "libexec/ringmaster" / path.name).exists():
            tree.link(f"libexec/ringmaster/{path.name}", path.resolve())


def needed() -> Iterator[Distribution]:
    """The packages of python/requirements.txt, as they are in .venv."""
    text = (ROOT / "python/requirements.txt").read_text()
    wanted = {_plain(name) for name in re.findall(r"^([\w.-]+)==", text, flags=re.MULTILINE)}
    there = {_plain(one.metadata["Name"]): one for one in distributions(path=[str(SITE)])}
    if missing := sorted(wanted - there.keys()):
        sys.exit(f"{SITE}: {', '.join(missing)} not there, expected all of python/requirements.txt; run `make build`")
    yield from (there[name] for name in sorted(wanted))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def install_python(tree: Tree) -> None:
    """Our package, and those that it needs."""
    for one in needed():
        for file in one.files or ():
            if ".." not in file.parts and (SITE / file).is_file():  # programs of theirs lie outside
                tree.copy(SITE / file, Path("lib/ringmaster/python") / file)
    package = SHARE / "python/ringmaster"
    tree.copy_all(ROOT / "python/ringmaster", package, *BUILDS_ONLY)
    compileall.compile_dir(tree.top / package, quiet=2, stripdir=str(tree.top))


def install_texts(tree: Tree) -> None:
    """What people read, copy and start from."""
    tree.copy_all(ROOT / "configs", SHARE / "configs")
    tree.copy_all(ROOT / "examples", SHARE / "examples", *BUILDS_ONLY)
    tree.copy_all(ROOT / "apps/template", SHARE / "template", "__pycache__", "*.so")
    tree.copy(ROOT / "LICENSE", SHARE / "LICENSE")


def install_command_line(tree: Tree) -> None:
    """The launcher, and what it says of its completion."""
    launcher = tree.place("bin/ringmaster")
    shutil.copy(ROOT / "tools/installed_launcher", launcher)
    for shell, to in COMPLETIONS.items():
        text = subprocess.check_output([launcher, "completion", shell], text=True)
        tree.place(to).write_text(text)


def install_manual(tree: Tree) -> None:
    """A page for each command and each header; they are made with what is installed."""
    version = subprocess.check_output([tree.top / "bin/ringmaster", "--version"], text=True).strip()
    made_s = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    edition = [version, time.strftime("%Y-%m-%d", time.gmtime(made_s))]
    packages = (tree.top / SHARE / "python", tree.top / "lib/ringmaster/python")
    environment = os.environ | {
        "PYTHONPATH": ":".join(map(str, packages)),
        "RINGMASTER_LIBEXEC": str(tree.top / "libexec/ringmaster"),
    }
    programs = sorted(str(path) for path in tree.top.glob("bin/ringmaster-*"))
    with tempfile.TemporaryDirectory(prefix="ringmaster-manual-") as made:
        commands = ["command_pages.py", f"{made}/man1", *edition, *programs]
        headers = ["header_pages.py", f"{made}/man3", *edition]
        for tool, *arguments in (commands, headers):
            subprocess.run([sys.executable, ROOT / "tools" / tool, *arguments], check=True, env=environment)
        tree.copy_all(Path(made), "share/man")


def install(top: Path) -> None:
    """Everything; what an earlier installation left there goes first."""
    if not (ROOT / "ringmaster").exists():
        sys.exit(f"{ROOT}: nothing is built here; run `make build`")
    if (top / MANIFEST).exists():
        uninstall(top)
    tree = Tree(top)
    try:
        install_programs(tree)
        install_python(tree)
        install_texts(tree)
        install_command_line(tree)
        install_manual(tree)
    finally:  # what was made before something failed can be taken away, too
        tree.close()
    print(f"installed below {top}; `make uninstall` with the same DESTDIR and prefix takes it away")


def uninstall(top: Path) -> None:
    """All that is in the list, and what Python has compiled beside it. Folders go that were made, and are empty now."""
    try:
        made = (top / MANIFEST).read_text().splitlines()
    except FileNotFoundError:
        sys.exit(f"{top / MANIFEST} is not there: nothing is installed below {top}, or by other means")
    folders = [Path(os.path.normpath(top / name)) for name in made if name.endswith("/")]
    for name in made:
        if not name.endswith("/"):
            (top / name).unlink(missing_ok=True)
    for folder in reversed(folders):
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    for folder in folders:
        if folder.exists():
            print(f"{folder} stays: there is more in it")


def main() -> None:
    """Below DESTDIR and prefix."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=Path)
    parser.add_argument("--destdir", default="", help="goes before the prefix: for packages")
    parser.add_argument("--uninstall", action="store_true")
    asked = parser.parse_args()
    if not asked.prefix.is_absolute():
        sys.exit(f"prefix={asked.prefix}: expected an absolute path, such as /usr/local")
    top = Path(f"{asked.destdir}{asked.prefix}").absolute()
    (uninstall if asked.uninstall else install)(top)


if __name__ == "__main__":
    main()
