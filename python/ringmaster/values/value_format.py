# SPDX-License-Identifier: Apache-2.0
"""Values of parameters as people read and write them."""

import json
import re
from typing import Any

import numpy as np

from ringmaster.fabric.parameter import Parameter, Value

SHOWN = 12
"""Elements of an array that are shown in a line; of a longer one its first and last."""

SHORT = 11
"""Characters of a number that is shown to its last bit; a longer one is rounded to nine digits."""

_ELEMENTS = re.compile(r"(?P<name>.+)\[(?P<first>\d+)(?::(?P<end>\d+))?\]")


def plain(value: Value) -> Any:
    """What JSON and YAML can hold."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def show(value: Value, unit: str = "") -> str:
    """A value in a line, with its unit."""
    return f"{_show(value)} {unit if unit != 'utf-8' else ''}".rstrip()


def _show(value: Value) -> str:
    if isinstance(value, np.ndarray):
        flat = [_show(number) for number in value.ravel().tolist()]
        if len(flat) > SHOWN:
            flat = [*flat[: SHOWN - 2], f"… {len(flat)} in all …", *flat[-2:]]
        return f"[{', '.join(flat)}]"
    if isinstance(value, float):
        return repr(value) if len(repr(value)) <= SHORT else _shortened(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _shortened(value: float) -> str:
    """Nine digits; of what was single precision, as setpoints and readbacks are, those that it has."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
    return str(single) if float(single) == value else f"{value:.9g}"


def split_name(words: str) -> tuple[str, int, int | None]:
    """Reads "name[3]", element 3, as name, first, count; "name[3:5]" are 3 and 4, "name" is all, and its count None."""
    found = _ELEMENTS.fullmatch(words)
    if found is None:
        return words, 0, None
    first = int(found["first"])
    return found["name"], first, (int(found["end"]) if found["end"] else first + 1) - first


def parse(parameter: Parameter, words: list[str]) -> Value:
    """A value as it was typed: "1.2", several, with commas or in brackets too; text as it stands.

    Raises ValueError where it is no such thing.
    """
    if parameter.is_text:
        return " ".join(words)
    parts = " ".join(words).replace("[", " ").replace("]", " ").replace(",", " ").split()
    numbers = [_number(parameter, part) for part in parts]
    if not numbers:
        raise ValueError(f"{parameter.name}: no value was given")
    return numbers[0] if len(numbers) == 1 else np.array(numbers)


def _number(parameter: Parameter, word: str) -> int | float:
    try:
        return int(word, 0)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{parameter.name} takes numbers; {word!r} is none") from None
