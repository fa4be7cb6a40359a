# SPDX-License-Identifier: Apache-2.0
"""A layout that changed must be found, named and refused."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import check_abi
import generate_abi
import numpy as np
import pytest
from check_abi import Layout

DTYPE_OF = {"u32": "<u4", "u64": "<u8", "f64": "<f8"}


@pytest.fixture
def golden() -> Layout:
    """A copy of the golden file that a test may spoil."""
    layout: Layout = json.loads(check_abi.GOLDEN.read_text())
    return layout


def member(layout: Layout, struct: str, name: str) -> Layout:
    """One member of a struct."""
    found: Layout = next(m for m in layout["structs"][struct]["members"] if m["name"] == name)
    return found


def test_golden_file_is_canonical(golden: Layout) -> None:
    assert check_abi.GOLDEN.read_text() == check_abi.canonical_text(golden)
    assert check_abi.complaint(golden, golden) is None
    assert check_abi.refusal(golden, golden) is None


def swap_head_and_first(layout: Layout) -> None:
    head, first = member(layout, "rm_stream", "head"), member(layout, "rm_stream", "first")
    head["name"], first["name"] = first["name"], head["name"]


def renumber_a_kind(layout: Layout) -> None:
    layout["enums"]["rm_object_kind"]["RM_OBJECT_SETPOINTS"] = 99


def reorder_counters(layout: Layout) -> None:
    layout["counters"]["port"].reverse()


def retype_gain(layout: Layout) -> None:
    member(layout, "rm_stream", "gain")["type"] = "u64"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (swap_head_and_first, "struct rm_stream, member head: was u64 at byte 896, is u64 at byte 904"),
        (renumber_a_kind, "RM_OBJECT_SETPOINTS: was 3, is 99"),
        (reorder_counters, "counter port/received: was 0, is 35"),
        (retype_gain, "struct rm_stream, member gain: was f64 at byte 64, is u64 at byte 64"),
    ],
)
def test_change_stops_the_build_and_make_abi(golden: Layout, change: Callable[[Layout], None], says: str) -> None:
    now = copy.deepcopy(golden)
    change(now)
    for problem in (check_abi.complaint(golden, now), check_abi.refusal(golden, now)):
        assert problem is not None
        assert says in problem
        assert "raise RM_ABI_VERSION" in problem
    assert check_abi.layout_hash(now) != check_abi.layout_hash(golden)

    now["constants"]["RM_ABI_VERSION"] += 1
    assert check_abi.complaint(golden, now) is not None
    assert check_abi.refusal(golden, now) is None


@pytest.mark.parametrize("name", ["first", "reserved_live"])
def test_forgotten_member_leaves_a_hole(golden: Layout, name: str) -> None:
    members = golden["structs"]["rm_stream"]["members"]
    members.remove(member(golden, "rm_stream", name))
    problem = check_abi.complaint(golden, golden)
    assert problem is not None
    assert "struct rm_stream" in problem
    assert "abi_dump.c" in problem


def test_padding_cannot_stand_for_a_member(golden: Layout) -> None:
    member(golden, "rm_clock", "turn")["type"] = "padding"
    assert any("name a reserved member" in line for line in check_abi.holes(golden))


def test_forgotten_names_are_found(golden: Layout, tmp_path: Path) -> None:
    (tmp_path / "new.h").write_text(
        "#define RM_NEW 1u /* comment */\n#define RM_GUARD_H\n// struct rm_not_this {\n"
        "struct rm_new {\n    uint64_t a;\n};\nenum rm_colour { RM_RED = RM_LANES, RM_GREEN };\n"
    )
    assert check_abi.forgotten(golden, tmp_path) == [
        f"new.h: {name} is not printed" for name in ("RM_GREEN", "RM_NEW", "RM_RED", "rm_new")
    ]


def test_numpy_types_lie_where_c_has_them(golden: Layout) -> None:
    namespace: Layout = {"__name__": "abi"}
    exec(generate_abi.python_module(golden), namespace)
    for name, struct in golden["structs"].items():
        made = namespace["DTYPES"][name]
        assert made.itemsize == struct["bytes"]
        for m in struct["members"]:
            if m["type"] == "padding":
                assert m["name"] not in made.names
                continue
            kind, offset = made.fields[m["name"]][:2]
            assert (kind.itemsize, offset) == (m["bytes"], m["offset"])
            if m["type"] in DTYPE_OF:
                assert kind == np.dtype(DTYPE_OF[m["type"]])


def test_hash_of_the_header_is_the_hash_of_the_module(golden: Layout) -> None:
    header = re.search(r"0x[0-9A-F]{16}", check_abi.header_text(golden))
    assert header is not None
    assert f"LAYOUT_HASH = {header[0]}" in generate_abi.MODULE.read_text()


def test_fnv1a_of_a_published_vector() -> None:
    assert check_abi.fnv1a(b"foobar") == 0x85944171F73967E8


def test_member_moved_in_a_header_is_found(golden: Layout, tmp_path: Path) -> None:
    headers = tmp_path / "ringmaster"
    shutil.copytree(check_abi.HEADERS, headers)
    text = (headers / "segment.h").read_text()
    moved = re.sub(r"(    uint64_t layout_hash;\n)(    /\*\*[^\n]*\n)(    uint64_t directory_hash;\n)", r"\3\2\1", text)
    assert moved != text
    (headers / "segment.h").write_text(moved)
    source = check_abi.ROOT / "src/fabric/abi/abi_dump.c"
    subprocess.run(["cc", "-std=gnu17", f"-I{tmp_path}", source, "-o", tmp_path / "dump"], check=True)
    problem = check_abi.complaint(golden, check_abi.current_layout(check_abi.run_dump(tmp_path / "dump")))
    assert problem is not None
    assert "struct rm_segment_header, member layout_hash: was u64 at byte 16, is u64 at byte 24" in problem


def test_generated_module_is_checked() -> None:
    result = subprocess.run([sys.executable, generate_abi.__file__, "--check"], check=False)
    assert result.returncode == 0
