# SPDX-License-Identifier: Apache-2.0
"""A plan, written into a configuration: roles, spare cores, queues of ports, cores of applications. All else stays."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ringmaster.doctor import cpu_list
from ringmaster.plan.place import Plan
from ringmaster.plan.roles import OWN_PROCESS, Role

Edit = tuple[int, int, str]
"""From one character of the text to another, and what stands there then."""

SERVER_CORES_MAX = 64
"""Of roles and spare ones together: RM_CONFIG_CORES_MAX."""


def spare_cores(plan: Plan) -> tuple[int, ...]:
    """Cores with nothing to do, in the chiplets of the server's roles: `ringmaster reload` may move roles there."""
    machine = plan.machine
    away = {role.core for role in plan.roles} | {*plan.linux, *plan.rules.taken}
    own = {role.core for role in plan.roles if role.kind != OWN_PROCESS}
    near = {core.chiplet for core in machine.cores if core.number in own}
    free = [core.number for core in machine.cores if core.chiplet in near and not away & set(core.threads)]
    return tuple(free[: max(0, SERVER_CORES_MAX - len(own))])


def planned_text(
    config: Path, roles: Sequence[Role], dealt: Mapping[str, int], spare: Sequence[int] | None = None
) -> str:
    """The configuration's text with these roles, and with these spare cores; None: as they are.

    Raises OSError, and ValueError where it is none.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    text = config.read_text()
    try:
        top = YAML().compose(text)
    except YAMLError as error:
        raise ValueError(f"{config}: {' '.join(str(error).split())}") from None
    if top.flow_style:
        raise ValueError(f"{config}: its keys stand in braces, expected one a line, as YAML: roles are written so")
    cores = {role.application: role.core for role in roles if role.kind == OWN_PROCESS}
    edits = [*_all(text, top, "ports", "queues", dealt, 1), *_all(text, top, "applications", "core", cores, None)]
    lines = [f"  - {{{_entry(role, dealt)}}}" for role in roles if role.kind != OWN_PROCESS]
    written = _value(top, "roles")
    if written is None:
        edits.append((len(text), len(text), "\nroles:\n" + "\n".join(lines) + "\n"))
    else:
        edits.append(_block(text, written, lines))
    if spare is not None:
        edits.append(_spare(text, top, spare, edits[-1][1]))
    for begin, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def _value(mapping: Any, key: str) -> Any:
    """The node of a key's value; None where the mapping has no such key."""
    return next((value for name, value in mapping.value if name.value == key), None)


def _spare(text: str, top: Any, spare: Sequence[int], behind_roles: int) -> Edit:
    """Its line, behind the roles where there is none yet; no line where no core is spare."""
    line = f'spare_cores: "{cpu_list.write(spare)}"' if spare else ""
    key = next((name for name, _ in top.value if name.value == "spare_cores"), None)
    if key is None:
        return behind_roles, behind_roles, "\n" + line if line else ""
    end = text.find("\n", key.start_mark.index)
    return key.start_mark.index, len(text) if end < 0 else end, line


def _all(text: str, top: Any, key: str, inner: str, wanted: Mapping[str, int], otherwise: int | None) -> Iterator[Edit]:
    """Sets a key in each entry of a list, by the entry's name."""
    listed = _value(top, key)
    for entry in listed.value if listed is not None else ():
        name = _value(entry, "name")
        number = wanted.get(name.value) if name is not None else None
        there = _value(entry, inner)
        if number is None or (there is None and number == otherwise):
            continue
        if there is not None:
            yield there.start_mark.index, there.end_mark.index, str(number)
        elif entry.flow_style:
            end = entry.end_mark.index - 1
            yield end, end, f", {inner}: {number}"
        else:
            last = entry.value[-1][1].end_mark.index
            end = text.find("\n", last - 1) if text[last - 1 : last] != "\n" else last - 1
            end = len(text) if end < 0 else end
            yield end, end, f"\n{' ' * entry.start_mark.column}{inner}: {number}"


def _block(text: str, written: Any, lines: Sequence[str]) -> Edit:
    """Replaces a list from the line that it begins in, or behind its key where it is in brackets, to its last entry."""
    begin = written.start_mark.index
    if written.flow_style:
        return begin, written.end_mark.index, "\n" + "\n".join(lines)
    begin = text.rfind("\n", 0, begin) + 1
    end = written.value[-1].end_mark.index
    end = text.find("\n", end - 1)
    return begin, len(text) if end < 0 else end, "\n".join(lines)


def _entry(role: Role, dealt: Mapping[str, int]) -> str:
    """On one line, as the shipped files have it."""
    keys = {"role": role.kind, "core": str(role.core)}
    if role.queues:
        keys["ports"] = f"[{', '.join(role.ports if role.kind == 'spread' else _names(role, dealt))}]"
    if role.kind == "application":
        keys["application"] = role.application
    keys |= {key: _words(value) for key, value in role.written.items() if key not in {"ports", *keys}}
    return ", ".join(f"{key}: {value}" for key, value in keys.items())


def _words(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _names(role: Role, dealt: Mapping[str, int]) -> list[str]:
    """A port by its name where the role has all its queues, else its queues."""
    held: dict[str, list[int]] = defaultdict(list)
    for port, queue in role.queues:
        held[port].append(queue)
    names: list[str] = []
    for port, queues in held.items():
        names += [port] if len(queues) == dealt.get(port, 1) else [f"{port}/{queue}" for queue in sorted(queues)]
    return names
