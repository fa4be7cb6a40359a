# SPDX-License-Identifier: Apache-2.0
"""What parts of a gateway's file hold: texts, numbers, lists of mappings. All raise ValueError with file, line, key."""

from ringmaster.machine.server_file import Part


def parts(whole: Part, key: str) -> list[Part]:
    """A list of mappings; none where the key is not there."""
    listed = whole.values.get(key)
    if listed is None:
        return []
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise whole.error(key, f"{listed!r}, expected a list of mappings")
    return [Part(whole.path, f"{key}[{i}]", entry) for i, entry in enumerate(listed)]


def part(whole: Part, key: str, example: str) -> Part | None:
    """A mapping; None where the key is not there."""
    written = whole.values.get(key)
    if written is None:
        return None
    if not isinstance(written, dict):
        raise whole.error(key, f"{written!r}, expected a mapping such as {example}")
    return Part(whole.path, key, written)


def text(part: Part, key: str) -> str:
    """A text that must be there."""
    written = part.values.get(key)
    if not isinstance(written, str):
        raise part.error(key, f"{written!r}, expected text")
    return written


def texts(part: Part, key: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    """A text or some."""
    written = part.values.get(key)
    if written is None:
        return usual
    listed = written if isinstance(written, list) else [written]
    if not all(isinstance(one, str) for one in listed):
        raise part.error(key, f"{written!r}, expected texts; write numbers between quotes")
    return tuple(str(one) for one in listed)


def number(part: Part, key: str, usual: float, low: float, high: float) -> float:
    """A number of a range."""
    written = part.values.get(key, usual)
    if isinstance(written, bool) or not isinstance(written, int | float) or not low <= written <= high:
        raise part.error(key, f"{written!r}, expected a number from {low:g} to {high:g}")
    return float(written)
