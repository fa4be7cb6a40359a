# SPDX-License-Identifier: Apache-2.0
"""Man pages from help and from headers: what stands there arrives, and roff prints it as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click
import pytest
from command_pages import Edition, command_page, contexts
from header_pages import declarations, functions, header_page
from repository import ROOT
from roff import escaped, prose

EDITION = Edition("1.2", "1 Jan 2026")


@click.group(help="Do things.\n\n\b\nExit codes:\n  0 done\n  1 failed")
def tool() -> None:
    pass


@tool.command(epilog="\b\nExamples:\n  tool make 'a b' --depth 2\n  .hidden/tool make")
@click.argument("name")
@click.option("--depth", type=int, default=1, show_default=True, help="How deep.")
def make(name: str, depth: int) -> None:
    r"""Make NAME of C:\path. Twice, if need be."""


@tool.command(hidden=True)
def secret() -> None:
    pass


def pages() -> dict[str, str]:
    return {one.command_path: command_page(one, EDITION) for one in contexts(tool, "tool")}


def shown(page: str, tmp_path: Path) -> str:
    """As a reader sees it; roff's warnings are errors."""
    file = tmp_path / "page"
    file.write_text(page)
    command = ["groff", "-man", "-Tutf8", "-P-cbou", "-Kutf8", "-ww", "-rLL=120n", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.replace("\N{HYPHEN}", "-")


def test_a_command_has_its_usage_options_and_examples(tmp_path: Path) -> None:
    assert list(pages()) == ["tool", "tool make"]
    text = shown(pages()["tool make"], tmp_path)
    assert "tool-make - Make NAME of C:\\path\n" in text
    assert "[OPTIONS] NAME" in text
    assert "--depth INTEGER How deep. [default: 1]" in " ".join(text.split())
    assert "EXAMPLES\n           tool make 'a b' --depth 2\n           .hidden/tool make\n" in text
    assert "tool(1)" in text


def test_a_group_lists_its_commands_and_titled_lists(tmp_path: Path) -> None:
    text = shown(pages()["tool"], tmp_path)
    assert "tool-make(1)" in text
    assert "secret" not in text
    assert "EXIT CODES\n           0 done\n           1 failed\n" in text


HEADER = """/** Marks: what is left behind. More of it.
 *
 * ## Lists
 *  - one `mark`
 *    that goes on
 *  - two
 *
 *     struct rm_mark mark = {0};
 */
#ifndef RINGMASTER_MARK_H
#define RINGMASTER_MARK_H

#include <stdint.h>

/** A mark. */
struct rm_mark {
    /** It says rm_no_function(). */
    uint64_t place;

    uint64_t reserved;
};

/** Sets it. */
void rm_mark_set(struct rm_mark *mark, uint64_t place);

/** Its place. */
static inline uint64_t rm_mark_place(struct rm_mark const *mark) {
    return mark->place;
}

#endif
"""


def test_a_header_has_its_prose_and_its_declarations(tmp_path: Path) -> None:
    assert functions(HEADER) == ["rm_mark_set", "rm_mark_place"]
    text = shown(header_page("mark.h", HEADER, "1.2", "1 Jan 2026"), tmp_path)
    assert "ringmaster-mark, rm_mark_set, rm_mark_place - Marks: what is left behind\n" in text
    assert (
        "   Lists\n       -   one mark that goes on\n\n       -   two\n\n           struct rm_mark mark = {0};\n"
        in text
    )
    assert "       Sets it.\n\n           void rm_mark_set(struct rm_mark *mark, uint64_t place);\n" in text
    assert "rm_mark_place(struct rm_mark const *mark);\n" in text
    assert "return" not in text


@pytest.mark.parametrize("path", sorted((ROOT / "include/ringmaster").glob("*.h")), ids=lambda path: str(path.name))
def test_nothing_of_our_headers_is_lost(path: Path) -> None:
    text = path.read_text()
    told = "\n".join(declared.code for declared in declarations(text))
    for name in functions(text):
        assert f"{name}(" in told
    assert told.count("{") == told.count("}")


def test_roff_prints_what_it_would_obey() -> None:
    assert escaped(".SH \\fB") == "\\&.SH \\efB"
    assert prose("1. first\n2. second") == ['.IP "1." 4', "first", '.IP "2." 4', "second"]
