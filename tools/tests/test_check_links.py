# SPDX-License-Identifier: Apache-2.0
"""Links of documents: to files, to headings, and those that are not looked at."""

from pathlib import Path

import pytest
from check_links import anchors, broken_links


def wrong_of(folder: Path, text: str) -> list[str]:
    (folder / "docs").mkdir()
    (folder / "docs" / "other.md").write_text("# Other\n\n## How `it` is, and why\n\n## Twice\n\n## Twice\n")
    (folder / "one.md").write_text(text)
    return broken_links(folder, [Path("one.md")])


@pytest.mark.parametrize(
    "link",
    ["docs/other.md", "docs/other.md#how-it-is-and-why", "docs/other.md#twice-1", "docs", "#one", "https://a.b/c"],
)
def test_good_links(tmp_path: Path, link: str) -> None:
    assert wrong_of(tmp_path, f"# One\n\n[text]({link})\n") == []


@pytest.mark.parametrize(
    ("link", "what"),
    [("docs/none.md", "no file"), ("docs/other.md#how", "no heading"), ("#two", "no heading")],
)
def test_broken_links(tmp_path: Path, link: str, what: str) -> None:
    [line] = wrong_of(tmp_path, f"# One\n\n[`text`]({link})\n")
    assert line.startswith(f"one.md: the link {link} leads to {what}")


def test_code_is_not_looked_at(tmp_path: Path) -> None:
    assert wrong_of(tmp_path, "# One\n\n`[a](none.md)`\n\n```\n[a](none.md)\n```\n") == []


def test_a_heading_with_a_link_has_the_name_of_its_text() -> None:
    assert anchors("## The [guard](guard.md)'s rows\n") == {"the-guards-rows"}
