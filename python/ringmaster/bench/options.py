# SPDX-License-Identifier: Apache-2.0
"""What a measurement may be asked, once: fields of a dataclass, of which its command line is made, and made again.

@dataclass(frozen=True)
class Options:
    seconds: float = option(2.0, "Of a round.", Finite(0.1))
"""

import math
import shlex
from collections.abc import Callable
from dataclasses import Field, field, fields
from typing import Any

import click
from click.shell_completion import CompletionItem as Completion


class WrongOptions(ValueError):
    """Options that do not go together; raised when they are made."""


class Finite(click.FloatRange):
    """A range of numbers, which neither "nan" nor "inf" is in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuses them, too."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"found {value}, expected a number.", param, ctx)
        return number


class SomeOf(click.ParamType[tuple[str, ...]]):
    """Names out of those that are known, with commas between; each once."""

    name = "list"

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """In the order in which they were given."""
        wanted = dict.fromkeys(part.strip() for part in value.split(",") if part.strip())
        if not wanted or not set(wanted) <= set(self.known):
            self.fail(f"found {value!r}, expected some of {','.join(self.known)}", param, ctx)
        return tuple(wanted)

    def shell_complete(self, _context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Completion]:
        """What may follow the last comma."""
        before, comma, begun = incomplete.rpartition(",")
        left = [name for name in self.known if name not in before.split(",")]
        return [Completion(f"{before}{comma}{name}") for name in left if name.startswith(begun)]


class Integers(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between; each once."""

    name = "list"

    def __init__(self, least: int, count: int = 1) -> None:
        self._least, self._count = least, count

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """In the order in which they were given."""
        try:
            found = tuple(dict.fromkeys(int(part) for part in value.split(",") if part.strip()))
        except ValueError:
            found = ()
        if len(found) < self._count or any(number < self._least for number in found):
            some = f"{self._count} or more " if self._count > 1 else ""
            self.fail(
                f"found {value!r}, expected {some}whole numbers from {self._least} with commas between", param, ctx
            )
        return found


COUNT = click.IntRange(1)
SECONDS = Finite(0.1)


def option(
    default: Any, about: str, kind: Any = None, *, flag: str = "", unless: tuple[str, ...] = (), **shown: Any
) -> Any:
    """A field of Options. `flag` is the option's name where it is not the field's; beside an option of `unless` this
    one has no meaning and is refused; the others are click's.
    """
    shown |= {"help": about, "type": kind}
    return field(default=default, metadata={"flag": flag, "unless": unless, "click": shown})


def flag_of(one: "Field[Any]") -> str:
    """As it is written: "--turn-rate"."""
    return one.metadata["flag"] or f"--{one.name.replace('_', '-')}"


def command(name: str, options: Any) -> str:
    """The command line that asks for the same again, all options spelled out."""
    words = ["ringmaster", "bench", name]
    for one in fields(options):
        value, shown = getattr(options, one.name), one.metadata["click"]
        needless = any(getattr(options, other, None) for other in one.metadata["unless"])
        if value is None or value == () or needless or (shown.get("hidden") and value == one.default):
            continue
        for each in value if shown.get("multiple") else (value,):
            words += [flag_of(one), _word(each)]
    return shlex.join(words)


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def click_option(one: "Field[Any]") -> Callable[[Any], Any]:
    """The same for the command line."""
    shown, default = dict(one.metadata["click"]), one.default
    kind, names = shown["type"], [flag_of(one), one.name, *shown.pop("short", ())]
    if isinstance(kind, SomeOf):
        shown["help"] = f"{shown['help']} Of: {', '.join(kind.known)}".strip()
    is_plain = default is None or default == () or (isinstance(kind, SomeOf) and default == kind.known)
    if isinstance(default, tuple) and not shown.get("multiple"):
        default = ",".join(map(str, default)) or None
    return click.option(*names, default=default, show_default=not is_plain, **shown)
