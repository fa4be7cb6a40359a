# SPDX-License-Identifier: Apache-2.0
"""A wall between two rooms must hold, and must not stand where a door is."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_includes import Rules, offences
from repository import ROOT, tracked_files


def found(root: Path, file: str, line: str) -> list[str]:
    """What is wrong in a repository with one header per room and `line` as the second of `file`."""
    for header in (
        "src/base/fail.h",
        "src/fabric/segment.h",
        "src/net/port.h",
        "include/ringmaster/abi.h",
        "src/net/made.h.in",
    ):
        (root / header).parent.mkdir(parents=True, exist_ok=True)
        (root / header).touch()
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(f"// SPDX\n{line}\n")
    return offences(Rules.load(), root, [Path(file)])


@pytest.mark.parametrize(
    ("file", "line", "says"),
    [
        ("src/net/a.c", '#include "fabric/segment.h"', "of room src/fabric; src/net may include"),
        ("src/net/a.c", '#include "../fabric/segment.h"', "of room src/fabric"),
        ("src/net/a.c", "#  include <fabric/segment.h>", "of room src/fabric"),
        ("src/net/a.c", '#include "abi_hash.h"', "of room src/fabric"),
        ("src/fabric/a.c", "#include <rte_ring.h>", "only src/net, src/forward may"),
        ("src/fabric/a.c", '#include "net/made.h"', "of room src/net"),
        ("apps/ramp/a.c", '#include "base/fail.h"', "of room src/base; apps may include apps, include/ringmaster"),
        ("src/base/a.c", '#include "nowhere.h"', "no file of this repository"),
        ("include/ringmaster/a.h", "#include <time.h>", "public headers include public headers"),
        ("include/ringmaster/a.h", '#include "base/fail.h"', "of room src/base"),
        ("elsewhere/a.c", "#include <stdio.h>", "lies in no room"),
    ],
)
def test_wrong_include_is_found(tmp_path: Path, file: str, line: str, says: str) -> None:
    problems = found(tmp_path, file, line)
    assert len(problems) == 1
    assert problems[0].startswith(f"{file}:2: ")
    assert says in problems[0]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/net/a.c", '#include "net/port.h"'),
        ("src/net/a.c", '#include "port.h"'),
        ("src/net/a.c", '#include "net/made.h"'),
        ("src/net/a.c", "#include <rte_ring.h>"),
        ("src/engine/a.c", '#include "fabric/segment.h"'),
        ("src/fabric/a.c", '#include "abi_hash.h"'),
        ("apps/ramp/a.c", "#include <ringmaster/abi.h>"),
        ("include/ringmaster/a.h", "#include <stdint.h>"),
        ("bench/a.c", '#include "net/port.h"'),
        ("tests/a.c", "#include <rte_ring.h>"),
    ],
)
def test_allowed_include_passes(tmp_path: Path, file: str, line: str) -> None:
    assert found(tmp_path, file, line) == []


def test_header_that_hides_a_system_header_is_found(tmp_path: Path) -> None:
    problems = found(tmp_path, "src/base/time.h", "")
    assert len(problems) == 1
    assert "hides the system's <time.h>" in problems[0]


def test_this_repository_keeps_its_walls() -> None:
    assert offences(Rules.load(), ROOT, tracked_files(".c", ".h")) == []
