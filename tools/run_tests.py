# SPDX-License-Identifier: Apache-2.0
"""Run every test: Meson's, then pytest's. Tests of commands run beside calculations: they share nothing, and each part
keeps a core busy. Then the system tests run, which measure, alone. A test that failed runs once more, alone: one that
then passes is *unstable*, and named as such. Tests of what keeps the machine safe never run again. The last lines name
what failed and what is unstable, and give the sum: "N passed, N failed, N skipped".
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from repository import ROOT, tracked_files

BUILD = ROOT / "build"
MESON_LOG = BUILD / "meson-logs/testlog.json"
SYSTEM = ("tests/system",)
CALCULATIONS = ("tests/feedback", "tests/property", "tests/twin")
PYTEST_FOUND_NONE = 5
PART_S = 3600.0
"""A part that takes longer hangs, outside of all tests: each of them has a timeout of its own."""
TIMED_OUT = 124
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Of parts that run beside each other: linear algebra would take the other part's core."""
MESON_RESULTS = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
SAFETY = re.compile(
    r"guard|setpoint|permission|transmit|control thread|truncation|chain|feedback|application|host|supply"
)
"""Tests of what keeps the machine safe, by a word of their names: one failure of these is a failure."""
MOST_AGAIN = 8
"""More failures than that are no unlucky moment: nothing runs again."""


@dataclass
class Results:
    """Of one runner."""

    counts: Counter[str]
    failed: list[str] = field(default_factory=list)
    """Their names, as the runner takes them."""
    unstable: list[str] = field(default_factory=list)


def meson_results(log: Path) -> Results:
    """Count the results in Meson's log, one JSON object per line."""
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    counts = Counter(MESON_RESULTS.get(line["result"], "failed") for line in lines)
    return Results(counts, [line["name"] for line in lines if line["result"] not in MESON_RESULTS])


def pytest_results(log: Path, failures: Path) -> Results:
    """Count the results in pytest's JUnit file; the names of failures are those that pytest keeps."""
    if not log.exists():
        return Results(Counter())
    suite = ElementTree.parse(log).getroot().find("testsuite")
    assert suite is not None
    tests, failed, errors, skipped = (int(suite.attrib[n]) for n in ("tests", "failures", "errors", "skipped"))
    names = list(json.loads(failures.read_text())) if failures.exists() and failed + errors else []
    return Results(
        Counter(passed=tests - failed - errors - skipped, failed=failed + errors, skipped=skipped), sorted(names)
    )


def run_meson(names: list[str] | None = None) -> int:
    """Run the tests that meson.build files name, or some of them."""
    command = ["meson", "test", "-C", str(BUILD), "--print-errorlogs"]
    if names is not None:
        command += ["--no-rebuild", "--logbase", "again", *(name.rpartition(" / ")[2] for name in names)]
    return subprocess.run(command, check=False).returncode


@dataclass(frozen=True)
class Part:
    """Folders of Python tests that one pytest runs."""

    name: str
    folders: tuple[str, ...]
    alone: bool = False
    """Nothing may run beside it; it prints as it goes."""

    @property
    def log(self) -> Path:
        """Its results, as JUnit has them."""
        return BUILD / f"pytest-{self.name}.xml"

    @property
    def cache(self) -> Path:
        """Where pytest keeps what failed. Each part has its own, for they would overwrite each other's."""
        return BUILD / f"pytest-{self.name}.cache"

    @property
    def failures(self) -> Path:
        """The names of what failed."""
        return self.cache / "v/cache/lastfailed"

    def run(self) -> int:
        """Runs its tests; the status is pytest's."""
        options = ["--junitxml", str(self.log), "-o", f"cache_dir={self.cache}", *self.folders]
        if self.alone:
            return run_limited(pytest_command(options), pytest_environment())
        with (BUILD / f"pytest-{self.name}.log").open("w+") as words:
            status = run_limited(pytest_command(options), pytest_environment() | ONE_THREAD, words)
            words.seek(0)
            print(f"{self.name}:\n{words.read()}", end="", flush=True)
        return status


def parts_of(folders: Sequence[str]) -> list[Part]:
    """Every folder in one part: what is neither a calculation nor a test of the whole system is one of commands."""
    commands = tuple(folder for folder in folders if folder not in (*CALCULATIONS, *SYSTEM))
    calculations = tuple(folder for folder in folders if folder in CALCULATIONS)
    system = tuple(folder for folder in folders if folder in SYSTEM)
    parts = [Part("commands", commands), Part("calculations", calculations), Part("system", system, alone=True)]
    return [part for part in parts if part.folders]


def pytest_folders() -> list[str]:
    """All that hold tests for pytest."""
    return sorted({str(file.parent) for file in tracked_files(".py") if is_pytest(file)})


def pytest_command(options: Sequence[str]) -> list[str]:
    """One pytest with our settings."""
    return [sys.executable, "-m", "pytest", "-c", "python/pyproject.toml", "--rootdir", ".", *options]


def pytest_environment() -> dict[str, str]:
    """The built programs are at hand."""
    return dict(os.environ) | {"RINGMASTER_LIBEXEC": str(BUILD / "libexec")}


def run_limited(command: Sequence[str], environment: dict[str, str], words: TextIO | None = None) -> int:
    """The status of a program, or TIMED_OUT for one that does not end."""
    stderr = None if words is None else subprocess.STDOUT
    try:
        return subprocess.run(
            command, cwd=ROOT, env=environment, stdout=words, stderr=stderr, check=False, timeout=PART_S
        ).returncode
    except subprocess.TimeoutExpired:
        return TIMED_OUT


def run_parts(parts: Sequence[Part]) -> Results:
    """Those that can run beside each other do, then the others one by one."""
    for part in parts:
        for log in (part.log, part.failures):
            log.unlink(missing_ok=True)
    beside = [part for part in parts if not part.alone]
    with ThreadPoolExecutor(max(1, len(beside))) as pool:
        statuses = dict(zip(beside, pool.map(Part.run, beside), strict=True))
    statuses |= {part: part.run() for part in parts if part.alone}
    return together([with_status(pytest_results(part.log, part.failures), statuses[part]) for part in parts])


def together(parts: Sequence[Results]) -> Results:
    """Several results as one."""
    counts = sum((part.counts for part in parts), Counter[str]())
    return Results(counts, [name for part in parts for name in part.failed])


def run_pytest(names: Sequence[str]) -> int:
    """Run some tests by their names."""
    return run_limited(pytest_command(["-p", "no:cacheprovider", *names]), pytest_environment())


def is_pytest(file: Path) -> bool:
    """Tests for pytest lie in a folder `tests`; others are programs that Meson runs."""
    return "tests" in file.parts and file.name.startswith("test_")


def with_status(results: Results, status: int) -> Results:
    """A runner that failed without naming a test is a failure too."""
    if status not in (0, PYTEST_FOUND_NONE) and not results.counts["failed"]:
        results.counts["failed"] = 1
    return results


def run_again(results: Results, run: Callable[[list[str]], int]) -> Results:
    """Run each failed test once more, alone. Those that pass are unstable, and count as passed."""
    if len(results.failed) > MOST_AGAIN or results.counts["failed"] != len(results.failed):
        return results
    for name in [name for name in results.failed if not SAFETY.search(name)]:
        if run([name]) == 0:
            results.failed.remove(name)
            results.unstable.append(name)
            results.counts.update(passed=1, failed=-1)
    return results


def verdict(parts: list[Results]) -> tuple[str, int]:
    """The last lines, and the exit status."""
    total = sum((part.counts for part in parts), Counter[str]())
    lines = [f"FAILED {name}" for part in parts for name in part.failed]
    lines += [
        f"unstable: {name} failed, and passed when it ran again, alone" for part in parts for name in part.unstable
    ]
    lines.append(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return "\n".join(lines), 1 if total["failed"] else 0


def main() -> int:
    """Returns the exit status."""
    MESON_LOG.unlink(missing_ok=True)
    meson_status = run_meson()
    meson = with_status(meson_results(MESON_LOG), meson_status)
    pytest = run_parts(parts_of(pytest_folders()))
    text, status = verdict([run_again(meson, run_meson), run_again(pytest, run_pytest)])
    print(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
