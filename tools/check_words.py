# SPDX-License-Identifier: Apache-2.0
"""Check that no tracked text has a word that the glossary replaced and that means nothing else here."""

from __future__ import annotations

import re
import sys

from repository import ROOT, tracked_files

WORDS = {
    "attendants?": "control thread",
    "visitors?": "client",
    "patience": "timeout, or maximum lag",
    "outcasts?": "outlier",
    "hush(?:ed|es)?": "exclude from the quorum",
    "pardon(?:ed|s)?": "reinstate",
    r"express[ _-]?lanes?": "fast path",
    r"slow[ _-]path": "exception path",
}
"""Each old word, and what stands for it today."""

LEFT_OUT = ("CHANGELOG.md", "docs/glossary.md", "tools/check_words.py", "tools/tests/test_check_words.py")
"""Files that may have them: they map the old to the new."""

OLD = re.compile("|".join(rf"(?<![a-z])({word})(?![a-z])" for word in WORDS), re.IGNORECASE)


def old_words(text: str) -> list[tuple[int, str, str]]:
    """Line, word and successor of each old word."""
    successors = list(WORDS.values())
    return [
        (number, found[0], successors[(found.lastindex or 1) - 1])
        for number, line in enumerate(text.splitlines(), 1)
        for found in OLD.finditer(line)
    ]


def main() -> int:
    """Prints each old word with its place; returns the exit status."""
    wrong = 0
    for path in tracked_files():
        name = str(path)
        if name in LEFT_OUT:
            continue
        try:
            text = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for number, word, successor in old_words(text):
            print(f"{name}:{number}: {word!r}, expected {successor}; docs/glossary.md has the words")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
