# SPDX-License-Identifier: Apache-2.0
"""configs/all-keys.yaml and the JSON schemas beside it say of every key what the parsers do."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"
LIBEXEC = Path(os.environ.get("RINGMASTER_LIBEXEC", ROOT / "build/libexec"))
MODELINE = re.compile(r"# yaml-language-server: \$schema=(\S+)$", re.MULTILINE)
KINDS = (
    *("server", "ring", "virtual-cameras", "events", "feedback", "premortem", "tune", "tunefeedback", "sequence"),
    *("record", "fast-archiver"),
)
"""Kinds of file, in the order of the document."""
APPLICATIONS = ("feedback", "premortem", "tune", "tunefeedback", "sequence")
CAMERAS = {
    "workspace": "all-keys",
    "ports": [{"name": "cameras", "kind": "udp", "address": "127.0.0.1:20001"}],
    "cameras": [{"name": "cam01", "port": "cameras", "address": "127.0.0.11"}],
}
"""A machine with a camera, which the document of the server has not."""
PLACE = tuple[str | int, ...]


def yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def schema_of(kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((CONFIGS / f"schema/{kind}.schema.json").read_text())
    return schema


@pytest.fixture
def parts() -> dict[str, Any]:
    """The documents of all-keys.yaml, by their kinds."""
    text = (CONFIGS / "all-keys.yaml").read_text()
    return dict(zip(KINDS, yaml().load_all(text), strict=True))


def said(program: str, *files: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [LIBEXEC / program, "check", *files]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def take_application(server: dict[str, Any], name: str) -> None:
    """One that we ship, with its own file, in place of the application that is there."""
    server["setpoints"]["lead"] = name
    server["applications"][0] |= {"name": name, "code": name, "configuration": f"{name}.yaml"}
    if name == "tune":  # it reads y1 and the sum, too, which BPMs have without `lanes`
        server["applications"][0]["inputs"] = ["bpm*/turn"]
        del server["instruments"][0]["lanes"]
    del server["applications"][0]["settings"]


def check(parts: dict[str, Any], folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """By the program that loads this kind."""
    if kind in APPLICATIONS:
        parts = copy.deepcopy(parts)
        take_application(parts["server"], kind)
    for name, part in parts.items():
        (folder / f"{name}.yaml").write_text(json.dumps(part))  # is YAML, and written in no time
    if kind == "record":
        return said("ringmaster-record", folder / "record.yaml")
    if kind == "fast-archiver":
        return said("ringmaster-fast-archiver", folder / "fast-archiver.yaml")
    if kind in ("server", *APPLICATIONS):
        return said("ringmaster-server", folder / "server.yaml")
    if kind == "virtual-cameras":
        (folder / "machine.yaml").write_text(json.dumps(CAMERAS))
        return said("ringmaster-virtual-cameras", folder / "machine.yaml", folder / "virtual-cameras.yaml")
    return said("ringmaster-instruments", folder / "server.yaml", folder / "ring.yaml")


def is_taken(checked: subprocess.CompletedProcess[str], kind: str) -> bool:
    """An application's file has been taken when all that is wrong is that the matrix, the supply, or the second family
    that it needs is not there.
    """
    if kind == "premortem":
        return "sr/mps/permit is not among the application's supplies" in checked.stderr
    if kind == "tunefeedback":
        return "families: found 1, expected 2" in checked.stderr and checked.stderr.count("tunefeedback.yaml:") == 1
    if kind == "feedback":
        return "response.csv: " in checked.stderr and checked.stderr.count("feedback.yaml:") == 1
    return checked.returncode == 0


def keys(schema: dict[str, Any], place: PLACE = ()) -> Iterator[tuple[PLACE, dict[str, Any]]]:
    """Every key with its place in the document, where lists have one entry of all keys."""
    for name, key in schema.get("properties", {}).items():
        yield (*place, name), key
        yield from keys(key, (*place, name))
    if "items" in schema:
        yield from keys(schema["items"], (*place, 0))


def holder(part: Any, place: PLACE) -> Any:
    """The mapping that the last key of the place is in; None where it is commented out."""
    for step in place[:-1]:
        if isinstance(step, str) and step not in part:
            return None
        part = part[step]
    return part if place[-1] in part else None


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_stands_in_the_document(kind: str) -> None:
    document = (CONFIGS / "all-keys.yaml").read_text().split("\n---\n")[1 + KINDS.index(kind)]
    for place, _ in keys(schema_of(kind)):
        assert re.search(rf"^[ #-]*{place[-1]}:", document, re.MULTILINE), place


@pytest.mark.parametrize("kind", KINDS)
def test_every_default_is_one_that_the_schema_takes(kind: str) -> None:
    for place, key in keys(schema_of(kind)):
        assert key["description"], place
        if "default" in key:
            jsonschema.validate(key["default"], {**key, "required": []})


@pytest.mark.parametrize("kind", ["server", "ring", "virtual-cameras", *APPLICATIONS, "record", "fast-archiver"])
def test_a_default_that_is_left_out_means_the_same(kind: str, parts: dict[str, Any], tmp_path: Path) -> None:
    written = check(parts, tmp_path, kind)
    assert is_taken(written, kind), written.stderr
    for place, key in reversed(list(keys(schema_of(kind)))):
        if "default" in key and (mapping := holder(parts[kind], place)) is not None:
            assert key["default"] in (mapping[place[-1]], {}), place
            del mapping[place[-1]]
    left_out = check(parts, tmp_path, kind)
    assert is_taken(left_out, kind), left_out.stderr
    assert left_out.stdout == written.stdout


def beyond(key: dict[str, Any]) -> Iterator[float]:
    """Numbers just out of the range."""
    if "maximum" in key:
        yield key["maximum"] + (1 if key["maximum"] < 2**53 else key["maximum"])
    if "exclusiveMinimum" in key:
        yield key["exclusiveMinimum"]
    elif "minimum" in key and (key["type"] == "number" or key["minimum"] > 0):
        yield key["minimum"] - 1


@pytest.mark.parametrize("kind", ["server", "ring", "virtual-cameras", *APPLICATIONS, "fast-archiver"])
def test_a_number_out_of_its_range_is_refused(kind: str, parts: dict[str, Any], tmp_path: Path) -> None:
    assert is_taken(check(parts, tmp_path, kind), kind)
    taken = []
    for place, key in keys(schema_of(kind)):
        if holder(parts[kind], place) is None:
            continue
        for number in beyond(key):
            changed = copy.deepcopy(parts)
            holder(changed[kind], place)[place[-1]] = number
            if is_taken(check(changed, tmp_path, kind), kind):
                taken.append((place, number))
    assert taken == []


def test_all_that_is_wrong_with_the_feedbacks_file_is_told_at_once(parts: dict[str, Any], tmp_path: Path) -> None:
    parts["feedback"]["golden_speed"] = 0
    parts["feedback"]["tikhonov"] = 2
    checked = check(parts, tmp_path, "feedback")
    assert checked.returncode == 1
    lines = checked.stderr.splitlines()
    for line, wrong in zip(lines[:3], ("golden_speed: found 0", "tikhonov: found 2", "response.csv: "), strict=True):
        assert line.startswith("feedback: ")
        assert wrong in line
    assert lines[3].endswith("feedback.yaml: 3 errors, which are listed above")


def shipped() -> list[Path]:
    return sorted(path for path in CONFIGS.glob("*.yaml") if path.name != "all-keys.yaml")


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_what_is_shipped_is_as_its_schema_says(path: Path) -> None:
    text = path.read_text()
    modeline = MODELINE.search(text)
    assert modeline is not None
    jsonschema.validate(yaml().load(text), json.loads((CONFIGS / modeline[1]).read_text()))


@pytest.mark.parametrize("kind", KINDS)
def test_all_keys_are_as_their_schema_says(kind: str, parts: dict[str, Any]) -> None:
    jsonschema.validate(parts[kind], schema_of(kind))


def test_a_typing_mistake_is_refused(parts: dict[str, Any]) -> None:
    parts["server"]["ports"][0]["sockt"] = parts["server"]["ports"][0].pop("socket")
    with pytest.raises(jsonschema.ValidationError, match="sockt"):
        jsonschema.validate(parts["server"], schema_of("server"))
