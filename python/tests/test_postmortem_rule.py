# SPDX-License-Identifier: Apache-2.0
"""Rules and the key `postmortem`: what they mean, and what is refused with which words."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from postmortem_memory import settings

from ringmaster.postmortem.rule import parse
from ringmaster.postmortem.settings import parse_span, read_settings

VALUES = {"a": 1.0, "b/c": 2.0, "bpm01/fast:x1": -3e5}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a < 2", True),
        ("a<1", False),
        ("a <= 1 and b/c != 2", False),
        ("a > 5 or b/c == 2", True),
        ("a > 5 or b/c == 2 and a == 0", False),
        ("(a > 5 or b/c == 2) and a == 1", True),
        ("not bpm01/fast:x1 > -2.5e5", True),
        ("not (a == 1 and not b/c == 2)", True),
        ("gone > 1 or a == 1", True),
        ("gone > 1 and a == 2", False),
        ("gone > 1 and a == 1", None),
        ("not gone > 1", None),
    ],
)
def test_a_rule_holds_or_not_or_is_not_known(text: str, holds: bool | None) -> None:
    assert parse(text).holds(VALUES.get) is holds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "its end, expected the name"),
        ("a", "its end, expected one of <"),
        ("a < b", "at character 5: 'b', expected a number"),
        ("a < 1 b > 2", "'b', expected 'and'"),
        ("(a < 1", "its end, expected ')'"),
        ("a < 1 and", "its end, expected the name"),
        ("__import__('os') < 1", "'(', expected one of"),
        ("not " * 30 + "a < 1", "no more than 20"),
        ("a = 1", "expected"),
    ],
)
def test_what_is_no_rule_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(ValueError, match="rule") as error:
        parse(text)
    assert words in str(error.value)


@given(st.text(alphabet="ab<>=!()andorNt 1.:/-", max_size=40))
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert parse(text).holds(VALUES.get) in (True, False, None)


def test_spans_are_turns_or_times() -> None:
    assert parse_span(20000).in_turns(1e6) == 20000
    assert parse_span("50 ms").in_turns(1e6) == 50000
    assert parse_span("300 turns").in_seconds(1e3) == 0.3


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        ("{kind: magic}", "recorder.yaml:6:14: postmortem.triggers[0].kind: 'magic', expected one of parameter"),
        ("{kind: server, parameter: a}", "there is no key 'parameter'; there are: name, kind"),
        ("{kind: alarm}", "parameter: None, expected text"),
        ("{kind: parameter, parameter: a}", "needs 'above' or 'below'"),
        ("{kind: parameter, parameter: a, above: much}", "above: 'much', expected a number"),
        ("{kind: server, before: 5 parsecs}", "before: '5 parsecs', expected turns or a time"),
        (
            "{kind: rule, rule: a <}",
            "recorder.yaml:6:26: postmortem.triggers[0].rule: rule 'a <': at character 4:",
        ),
        ("nonsense", "postmortem.triggers: [0]: 'nonsense', expected a mapping"),
        ("{kind: server}\n{kind: server}", "two have the same name"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_their_key(tmp_path: Path, trigger: str, words: str) -> None:
    with pytest.raises(ValueError, match="postmortem") as error:
        settings(tmp_path, trigger)
    assert words in str(error.value)
    assert "recorder.yaml" in str(error.value)


def test_a_quota_has_a_unit(tmp_path: Path) -> None:
    assert settings(tmp_path, "{kind: server}", quota="1.5 GB").quota_bytes == 1_500_000_000
    with pytest.raises(ValueError, match="quota: '7 barrels', expected bytes"):
        settings(tmp_path, "{kind: server}", quota="7 barrels")


def test_a_file_without_the_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("directory: x\n")
    with pytest.raises(ValueError, match="it has no mapping 'postmortem'"):
        read_settings(tmp_path / "r.yaml")
