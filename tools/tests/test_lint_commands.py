# SPDX-License-Identifier: Apache-2.0
"""Which commands of a compilation database the C linter gets."""

from lint_commands import Command, different


def command(file: str, options: str) -> Command:
    return {"directory": "/build", "command": f"cc {options} -c {file}", "file": file}


def test_a_file_that_is_compiled_twice_is_looked_at_once() -> None:
    library = command("../src/guard.c", "-O3 -flto -Isrc/engine -DNDEBUG")
    rig = command("../src/guard.c", "-O2 -include test_timebase.h -DNDEBUG")
    same: Command = {**library, "file": "../src/../src/guard.c"}
    assert different([library, rig, same]) == [library]


def test_other_macros_are_another_program() -> None:
    first, second = command("../a.c", "-DSTEP=0"), command("../a.c", "-DSTEP=1")
    assert different([first, second, command("../b.c", "")]) == [first, second, command("../b.c", "")]
