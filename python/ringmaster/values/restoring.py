# SPDX-License-Identifier: Apache-2.0
"""Restoring a snapshot: asking the owners of its parameters for the values that they had."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ringmaster.errors import RequestRefused, RequestUnanswered, WorkspaceDead, WorkspaceError, WorkspaceStopped
from ringmaster.fabric.conversion import same_unit
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.workspace import Workspace
from ringmaster.values import snapshot
from ringmaster.values.snapshot import Entry
from ringmaster.values.value_format import show


@dataclass(frozen=True)
class Step:
    """What became of one parameter."""

    name: str
    outcome: str
    """unchanged, set, would set, refused, unanswered, gone."""
    words: str
    group: str | None = None

    @property
    def failed(self) -> bool:
        """Whether it is not as it was saved."""
        return self.outcome in ("refused", "unanswered", "gone")


def restore(ws: Workspace, entries: dict[str, Entry], timeout: float, dry_run: bool) -> Iterator[Step]:
    """Asks for one parameter after another, members of a group next to each other."""
    for name in sorted(entries, key=lambda name: (str(entries[name].get("group") or name), name)):
        yield _step(ws, name, entries[name], timeout, dry_run)


def _step(ws: Workspace, name: str, entry: Entry, timeout: float, dry_run: bool) -> Step:
    if name not in ws.parameters:
        return Step(name, "gone", f"there is no such parameter now; it was {_show(entry)}", entry.get("group"))
    parameter = ws.parameters[name]
    group = parameter.group
    try:
        now = snapshot.live(ws, [name])
    except (WorkspaceDead, WorkspaceStopped) as error:
        return Step(name, "unanswered", str(error), group)
    difference = next(snapshot.compare({name: now[name]}, {name: entry}), None)
    if difference is None:
        return Step(name, "unchanged", "", group)
    reason = _never(ws, parameter, entry)
    if reason:
        return Step(name, "refused", reason, group)
    if dry_run:
        return Step(name, "would set", difference.words, group)
    try:
        wanted = entry["value"]
        ws.put(name, np.array(wanted) if isinstance(wanted, list) else wanted, timeout=timeout)
    except RequestUnanswered as error:
        return Step(name, "unanswered", str(error).removeprefix(f"{name}: "), group)
    except (RequestRefused, WorkspaceError, ValueError) as error:
        return Step(name, "refused", str(error).removeprefix(f"{name}: "), group)
    return Step(name, "set", difference.words, group)


def _never(ws: Workspace, parameter: Parameter, entry: Entry) -> str | None:
    """Why it need not be asked for."""
    if not same_unit(str(entry.get("unit", "")), parameter.unit):
        return f"it was saved in {entry.get('unit') or 'no unit'!r} and has {parameter.unit!r} now"
    if not parameter.writable:
        return f"others may not set it; its owner, {parameter.owner}, alone does. It was {_show(entry)}"
    if not parameter.setting and f"{parameter.owner}/withdrawn" in ws.parameters:
        return f"it is a permission to act, which no file gives; `ringmaster put {parameter.name} …` does"
    return None


def _show(entry: Entry) -> str:
    value = entry["value"]
    return show(np.array(value) if isinstance(value, list) else value, str(entry.get("unit", "")))
