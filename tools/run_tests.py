# SPDX-License-Identifier: Apache-2.0
"""Run every test: Meson's, then pytest's, four at a time. Those that wait, as most system tests do, leave the cores
to others; and each shows that it holds beside whatever else a host does. A test that failed runs once more,
alone: one that then passes is *unstable*, and named as such. Tests of what keeps the machine safe never run again. The
last lines name what failed and what is unstable, and give the sum: "N passed, N failed, N skipped".
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
from dataclasses import dataclass, field
from pathlib import Path

from interrupts import hear_interrupts
from repository import ROOT, tracked_files

BUILD = ROOT / "build"
MESON_LOG = BUILD / "meson-logs/testlog.json"
PYTEST_LOG = BUILD / "pytest.xml"
CACHE = BUILD / "pytest.cache"
FAILURES = CACHE / "v/cache/lastfailed"
LONGEST_FIRST = ("tests/system", "tests/feedback", "tests/twin", "tests/property")
AT_A_TIME = 4
"""Tests: most of their servers and rings nap, so that two cores carry them."""
PYTEST_FOUND_NONE = 5
PYTEST_S = 3600.0
"""A run that takes longer hangs, outside of all tests: each of them has a timeout of its own."""
TIMED_OUT = 124
STARVED = 4
"""Times the timeout of a C test, on a host that gives it a part of a core: some take 13 s of one."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Linear algebra would take the other test's core."""
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Where it is set, as in many containers, every start of a command and every worker would compile our package anew."""
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
    command = ["meson", "test", "-C", str(BUILD), "--print-errorlogs", "--num-processes", str(AT_A_TIME)]
    command += ["--timeout-multiplier", str(STARVED)]
    if names is not None:
        command += ["--no-rebuild", "--logbase", "again", *(name.rpartition(" / ")[2] for name in names)]
    return subprocess.run(command, check=False).returncode


def pytest_folders() -> list[str]:
    """All that hold tests for pytest, those with the longest tests first: short ones fill the gaps at the end."""
    folders = {str(file.parent) for file in tracked_files(".py") if is_pytest(file)}
    return sorted(folders, key=lambda folder: (folder not in LONGEST_FIRST, folder))


def run_pytest(options: Sequence[str]) -> int:
    """The status of pytest with our settings, or TIMED_OUT if it does not end. The built programs are at hand."""
    command = [sys.executable, "-m", "pytest", "-c", "python/pyproject.toml", "--rootdir", ".", *options]
    environment = os.environ | ONE_THREAD | {"RINGMASTER_LIBEXEC": str(BUILD / "libexec")}
    environment.pop(NO_BYTECODE, None)
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, check=False, timeout=PYTEST_S).returncode
    except subprocess.TimeoutExpired:
        return TIMED_OUT


def run_folders(folders: Sequence[str]) -> Results:
    """Run all tests of these folders. Tests of one file share its set-up, so they stay together."""
    for log in (PYTEST_LOG, FAILURES):
        log.unlink(missing_ok=True)
    beside = ["-n", str(AT_A_TIME), "--dist", "loadfile", "--no-loadscope-reorder"]
    status = run_pytest([*beside, "--junitxml", str(PYTEST_LOG), "-o", f"cache_dir={CACHE}", *folders])
    return with_status(pytest_results(PYTEST_LOG, FAILURES), status)


def run_alone(names: Sequence[str]) -> int:
    """Run some tests by their names."""
    return run_pytest(["-p", "no:cacheprovider", *names])


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
    hear_interrupts()
    MESON_LOG.unlink(missing_ok=True)
    meson_status = run_meson()
    meson = with_status(meson_results(MESON_LOG), meson_status)
    pytest = run_folders(pytest_folders())
    text, status = verdict([run_again(meson, run_meson), run_again(pytest, run_alone)])
    print(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
