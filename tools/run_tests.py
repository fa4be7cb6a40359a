# SPDX-License-Identifier: Apache-2.0
"""Run every test: Meson's, then pytest's. The last lines name Meson's that failed (pytest names its own before), and
give the sum: "N passed, N failed, N skipped".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from repository import ROOT, tracked_files

BUILD = ROOT / "build"
MESON_LOG = BUILD / "meson-logs/testlog.json"
PYTEST_LOG = BUILD / "pytest.xml"
PYTEST_FOUND_NONE = 5
MESON_RESULTS = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}


def meson_sum(log: Path) -> Counter[str]:
    """Count the results in Meson's log, one JSON object per line."""
    results = (json.loads(line)["result"] for line in log.read_text().splitlines())
    return Counter(MESON_RESULTS.get(result, "failed") for result in results)


def meson_failures(log: Path) -> list[str]:
    """What failed, and how: what Meson itself said of it lies a thousand lines above."""
    results = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [f"{result['name']}: {result['result']}" for result in results if result["result"] not in MESON_RESULTS]


def pytest_sum(log: Path) -> Counter[str]:
    """Count the results in pytest's JUnit file."""
    suite = ElementTree.parse(log).getroot().find("testsuite")
    assert suite is not None
    tests, failures, errors, skipped = (int(suite.attrib[n]) for n in ("tests", "failures", "errors", "skipped"))
    failed = failures + errors
    return Counter(passed=tests - failed - skipped, failed=failed, skipped=skipped)


def run_meson() -> Counter[str]:
    """Run the tests that meson.build files name."""
    MESON_LOG.unlink(missing_ok=True)
    status = subprocess.run(["meson", "test", "-C", BUILD, "--print-errorlogs"], check=False).returncode
    return with_status(meson_sum(MESON_LOG) if MESON_LOG.exists() else Counter(), status)


def run_pytest() -> Counter[str]:
    """Run the tests in the folders of Python tests, with the built programs at hand."""
    PYTEST_LOG.unlink(missing_ok=True)
    folders = sorted({str(file.parent) for file in tracked_files(".py") if is_pytest(file)})
    options = ["-c", "python/pyproject.toml", "--rootdir", ".", "--junitxml", str(PYTEST_LOG)]
    environment = os.environ | {"RINGMASTER_LIBEXEC": str(BUILD / "libexec")}
    command = [sys.executable, "-m", "pytest", *options, *folders]
    status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    return with_status(pytest_sum(PYTEST_LOG) if PYTEST_LOG.exists() else Counter(), status)


def is_pytest(file: Path) -> bool:
    """Tests for pytest lie in a folder `tests`; others are programs that Meson runs."""
    return "tests" in file.parts and file.name.startswith("test_")


def with_status(results: Counter[str], status: int) -> Counter[str]:
    """A runner that failed without naming a test is a failure too."""
    if status not in (0, PYTEST_FOUND_NONE) and not results["failed"]:
        results["failed"] = 1
    return results


def main() -> int:
    """Returns the exit status."""
    total = run_meson() + run_pytest()
    print(*(f"FAILED {failure}\n" for failure in meson_failures(MESON_LOG)), sep="", end="")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
