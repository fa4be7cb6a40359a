# SPDX-License-Identifier: Apache-2.0
"""Write the C, Python and Markdown forms of src/fabric/counters.toml.

With --check: write nothing, exit 1 when one of them differs.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/fabric/counters.toml"
MADE = "Made from src/fabric/counters.toml by tools/generate_counters.py: change it there."

Sets = list[dict[str, Any]]


def c_header(sets: Sets) -> str:
    """Enumerations for C, one per set, in the order of the layout."""
    out = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"/** {MADE} */",
        "#ifndef RINGMASTER_COUNTERS_H",
        "#define RINGMASTER_COUNTERS_H",
        "",
        "// clang-format off",
        "",
        "/** Which set a block of counters is of; `variety` in its directory entry. */",
        "enum rm_counter_set_id {",
    ]
    out += [f"    RM_COUNTER_SET_{s['name'].upper()} = {i}," for i, s in enumerate(sets, 1)]
    out += ["};", ""]
    for s in sets:
        upper = s["name"].upper()
        out += [f"/** {s['object']} */", f"enum rm_{s['name']}_counter {{"]
        for i, (name, kind, unit, text) in enumerate(s["counters"]):
            note = f"{unit}, gauge: {text}" if kind == "gauge" else f"{unit}: {text}"
            out += [f"    /** {note} */", f"    RM_{upper}_{name.upper()} = {i},"]
        out += [f"    RM_{upper}_COUNTERS = {len(s['counters'])},", "};", ""]
    return "\n".join([*out, "// clang-format on", "", "#endif", ""])


def c_names(sets: Sets) -> str:
    """The names for C, by set."""
    out = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"/* {MADE} */",
        '#include "fabric/counter_names.h"',
        "",
        "// clang-format off",
        "",
    ]
    for s in sets:
        out += [f"static char const *const {s['name']}_names[] = {{"]
        out += [f'    "{name}",' for name, *_ in s["counters"]]
        out += ["};", ""]
    out += ["static struct {", "    char const *const *name;", "    unsigned count;", "} const counter_sets[] = {"]
    out += [
        f"    [RM_COUNTER_SET_{s['name'].upper()}] = {{{s['name']}_names, RM_{s['name'].upper()}_COUNTERS}},"
        for s in sets
    ]
    out += ["};", "", "// clang-format on", ""]
    out += [
        "unsigned rm_counter_set_size(enum rm_counter_set_id set) {",
        "    return set < sizeof counter_sets / sizeof counter_sets[0] ? counter_sets[set].count : 0;",
        "}",
        "",
        "char const *rm_counter_name(enum rm_counter_set_id set, unsigned index) "
        "{ return counter_sets[set].name[index]; }",
    ]
    return "\n".join([*out, ""])


def python_module(sets: Sets) -> str:
    """Names, kinds and units for Python, by set number."""
    out = [
        "# SPDX-License-Identifier: Apache-2.0",
        f'"""{MADE}"""',
        "",
        "from typing import NamedTuple",
        "",
        "",
        "class Counter(NamedTuple):",
        '    """One counter of a set."""',
        "",
        "    name: str",
        "    kind: str",
        "    unit: str",
        "    text: str",
        "",
        "",
        "SET_NAMES: dict[int, str] = {",
    ]
    out += [f'    {i}: "{s["name"]}",' for i, s in enumerate(sets, 1)]
    out += ["}", "", "COUNTERS: dict[str, tuple[Counter, ...]] = {"]
    for s in sets:
        out.append(f'    "{s["name"]}": (')
        for row in s["counters"]:
            out.append("        Counter(")
            out += [f'            "{field}",' for field in row]
            out.append("        ),")
        out.append("    ),")
    return "\n".join([*out, "}", ""])


def markdown(sets: Sets) -> str:
    """The page for people."""
    out = ["# Counters", "", f"<!-- {MADE} -->", ""]
    for s in sets:
        out += [f"## `{s['object']}`", "", s["about"], "", "| counter | unit | counts |", "|---|---|---|"]
        for name, kind, unit, text in s["counters"]:
            out.append(f"| `{name}` | {unit}{' (gauge)' if kind == 'gauge' else ''} | {text} |")
        out.append("")
    return "\n".join(out)


def main() -> int:
    """Write or check; returns the exit status."""
    sets: Sets = tomllib.loads(TABLE.read_text())["set"]
    files = {
        ROOT / "include/ringmaster/counters.h": c_header(sets),
        ROOT / "src/fabric/counter_names.c": c_names(sets),
        ROOT / "python/ringmaster/fabric/_counters.py": python_module(sets),
        ROOT / "docs/counters.md": markdown(sets),
    }
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)}: not what {TABLE.name} says; run `make generate`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
