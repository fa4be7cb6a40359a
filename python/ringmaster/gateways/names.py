# SPDX-License-Identifier: Apache-2.0
"""Under which names a gateway shows what a workspace holds: by templates, without clashes, legal in its protocol."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

SHOWN = 8
"""Faults of names that are told one by one."""


@dataclass(frozen=True)
class NameRule:
    """The name of all that match a pattern."""

    match: str
    """Shell pattern of our names; ``*`` takes slashes too."""
    name: str
    """{workspace}, {name}, and {1}, {2} … for what each ``*`` or ``?`` of the pattern stands for. Empty: not shown."""
    choices: tuple[str, ...] = ()
    """What the whole numbers from 0 on mean."""
    precision: int | None = None
    """Digits behind the point."""
    place: str = "the usual template"
    """Where it is written, for messages."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = {"*": "(.*)", "?": "(.)"}
        return re.compile("".join(parts.get(letter) or re.escape(letter) for letter in self.match))

    def fill(self, workspace: str, name: str, slash: str) -> str | None:
        """The name outside, with ``slash`` for each of ours; None where the pattern does not match."""
        found = self._pattern.fullmatch(name)
        if found is None:
            return None
        words = {"workspace": workspace, "name": name.replace("/", slash)}
        words |= {str(i): (part or "").replace("/", slash) for i, part in enumerate(found.groups(), 1)}
        return re.sub(r"\{(\w+)\}", lambda key: words.get(key[1], key[0]), self.name)


USUAL = NameRule("*", "{workspace}:{name}")


@dataclass(frozen=True)
class Legal:
    """What a protocol allows."""

    letters: str
    """As a regular expression has them between brackets."""
    longest: int
    slash: str
    """Stands for each slash of our names."""
    suffixes: tuple[str, ...] = ()
    """Names that come with each name, as NAME:TURN does."""
    protocol: str = ""
    """For messages."""


@dataclass
class Names:
    """Our names and those outside."""

    rules: Sequence[NameRule]
    workspace: str
    legal: Legal
    rule_of: dict[str, NameRule] = field(default_factory=dict)
    """By our name."""

    def of(self, sources: Iterable[str]) -> dict[str, str]:
        """Outside names by ours, of those that are shown. Raises ValueError that tells every name that cannot be."""
        named: dict[str, str] = {}
        for source in sources:
            for rule in self.rules:
                name = rule.fill(self.workspace, source, self.legal.slash)
                if name is not None:
                    self.rule_of[source] = rule
                    if name:
                        named[source] = name
                    break
        faults = self._illegal(named) + self._clashes(named)
        if faults:
            more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
            raise ValueError("; ".join(faults[:SHOWN]) + more)
        return named

    def _illegal(self, named: Mapping[str, str]) -> list[str]:
        longest = self.legal.longest - max((len(suffix) for suffix in self.legal.suffixes), default=0)
        letters = re.compile(f"[{self.legal.letters}]+")
        faults = []
        for source, name in named.items():
            if len(name) > longest:
                what = f"is longer than {longest} characters"
            elif not letters.fullmatch(name):
                what = f"has a character that is none of {self.legal.letters}"
            else:
                continue
            faults.append(
                f"{self.rule_of[source].place}: {source} would be {name!r}, which {what}, so {self.legal.protocol} "
                f"cannot have it; write a rule of `names` for it, with an empty name to leave it out"
            )
        return faults

    def _clashes(self, named: Mapping[str, str]) -> list[str]:
        holders: dict[str, str] = {}
        faults = []
        for source, name in named.items():
            for whole in (name, *(name + suffix for suffix in self.legal.suffixes)):
                other = holders.setdefault(whole, source)
                if other != source:
                    faults.append(
                        f"{self.rule_of[source].place}: {source} and {other} would both be {whole!r}; "
                        f"write a rule of `names` for one of them"
                    )
        return faults
