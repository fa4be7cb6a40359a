# SPDX-License-Identifier: Apache-2.0
"""Under which names a gateway shows what a workspace holds: by templates, without clashes, legal in its protocol."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ringmaster.fabric.workspace import Workspace

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

    def fill(self, name: str, slash: str, more: Mapping[str, str]) -> str | None:
        """The name outside, with ``slash`` for each of ours; None where the pattern does not match."""
        found = self._pattern.fullmatch(name)
        if found is None:
            return None
        words = {"name": name.replace("/", slash), **more}
        words |= {str(i): (part or "").replace("/", slash) for i, part in enumerate(found.groups(), 1)}
        return re.sub(r"\{(\w+)\}", lambda key: words.get(key[1], key[0]), self.name)


USUAL = NameRule("*", "{workspace}:{name}")

Words = Callable[[str], Mapping[str, str]]
"""What a template may have besides, by our name: {kind}, say."""


def no_words(_: Workspace) -> Words:
    """Of a protocol whose templates have none."""
    return lambda _: {}


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
    usual: NameRule = USUAL
    """Names all where no rule is given."""
    form: str = ".*"
    """What whole names are like, as a regular expression."""
    form_words: str = ""
    """The same in words."""
    words: Callable[[Workspace], Words] = no_words
    folds_case: bool = False
    """Whether names are the same that differ in small and capital letters alone."""


@dataclass(frozen=True)
class Given:
    """A name outside, and whose it is."""

    name: str
    source: str
    place: str


@dataclass
class Names:
    """Our names and those outside."""

    rules: Sequence[NameRule]
    workspace: str
    legal: Legal
    words: Words = lambda _: {}
    rule_of: dict[str, NameRule] = field(default_factory=dict)
    """By our name."""

    def of(self, sources: Iterable[str], given: Sequence[Given] = ()) -> dict[str, str]:
        """Outside names by ours, of those that are shown. ``given`` are names besides, which must be legal too.

        Raises ValueError that tells every name that cannot be.
        """
        named: dict[str, str] = {}
        rules = self.rules or (self.legal.usual,)
        for source in sources:
            words = {"workspace": self.workspace, **self.words(source)}
            for rule in rules:
                name = rule.fill(source, self.legal.slash, words)
                if name is not None:
                    self.rule_of[source] = rule
                    if name:
                        named[source] = name
                    break
        all_names = [Given(name, source, self.rule_of[source].place) for source, name in named.items()] + list(given)
        faults = self._illegal(all_names) + self._clashes(all_names)
        if faults:
            more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
            raise ValueError("; ".join(faults[:SHOWN]) + more)
        return named

    def _illegal(self, names: Sequence[Given]) -> list[str]:
        longest = self.legal.longest - max((len(suffix) for suffix in self.legal.suffixes), default=0)
        letters = re.compile(f"[{self.legal.letters}]+")
        form = re.compile(self.legal.form, re.IGNORECASE if self.legal.folds_case else 0)
        faults = []
        for it in names:
            if len(it.name) > longest:
                what = f"is longer than {longest} characters"
            elif not letters.fullmatch(it.name):
                what = f"has a character that is none of {self.legal.letters}"
            elif not form.fullmatch(it.name):
                what = f"is not {self.legal.form_words}"
            else:
                continue
            faults.append(
                f"{it.place}: {it.source} would be {it.name!r}, which {what}, so {self.legal.protocol} "
                f"cannot have it; write a rule of `names` for it, with an empty name to leave it out"
            )
        return faults

    def _clashes(self, names: Sequence[Given]) -> list[str]:
        holders: dict[str, Given] = {}
        faults = []
        for it in names:
            for whole in (it.name, *(it.name + suffix for suffix in self.legal.suffixes)):
                other = holders.setdefault(whole.casefold() if self.legal.folds_case else whole, it)
                if other is not it:
                    faults.append(
                        f"{it.place}: {it.source} and {other.source} would both be {whole!r}; "
                        f"write a rule of `names` for one of them"
                    )
        return faults
