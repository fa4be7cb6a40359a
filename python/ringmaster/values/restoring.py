# SPDX-License-Identifier: Apache-2.0
"""Restoring a snapshot: asking the owners of its parameters for the values that they had."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from ringmaster.errors import RequestUnanswered, WorkspaceDead, WorkspaceError, WorkspaceStopped
from ringmaster.fabric.conversion import same_unit
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.request import Wanted
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
    """Asks for what differs: for members of a group together, as settings that only go together must be set."""
    names = sorted(entries, key=lambda name: (str(entries[name].get("group") or name), name))
    for _, members in groupby(names, key=lambda name: entries[name].get("group") or name):
        changes: dict[str, Step] = {}
        for name in members:
            step = _judge(ws, name, entries[name])
            if step.outcome == "would set" and not dry_run:
                changes[name] = step
            else:
                yield step
        yield from _ask(ws, changes, {name: _value(entries[name]) for name in changes}, timeout)


def _judge(ws: Workspace, name: str, entry: Entry) -> Step:
    """What there is to do for one parameter, before anything is asked for."""
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
    return Step(name, "would set", difference.words, group)


def _ask(ws: Workspace, changes: dict[str, Step], values: dict[str, Wanted], timeout: float) -> Iterator[Step]:
    """Asks for all together; once more for what was refused, since what was done meanwhile may be why it now goes."""
    try:
        reasons = ws.put_together(values, timeout)
        refused = [name for name, reason in reasons.items() if reason]
        if 0 < len(refused) < len(reasons):
            reasons |= ws.put_together({name: values[name] for name in refused}, timeout)
    except (RequestUnanswered, WorkspaceError, ValueError) as error:
        outcome = "unanswered" if isinstance(error, RequestUnanswered) else "refused"
        for name, step in changes.items():
            yield replace(step, outcome=outcome, words=str(error).removeprefix(f"{name}: "))
        return
    for name, step in changes.items():
        words = reasons[name].removeprefix(f"{name}: ")
        yield replace(step, outcome="refused", words=words) if words else replace(step, outcome="set")


def _value(entry: Entry) -> Wanted:
    value: Wanted = entry["value"]
    return value


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
