# SPDX-License-Identifier: Apache-2.0
"""Names of TANGO: DOMAIN/FAMILY/MEMBER of a device, and its attribute."""

from collections.abc import Mapping

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.workspace import Workspace
from ringmaster.gateways.names import Legal, NameRule, Words

FIELDS = 3
"""Of a device's name."""
OWN = ("State", "Status", "Turn")
"""Attributes that every device has."""


def words_of(ws: Workspace) -> Words:
    """{device}, {attribute} and {kind}: which device our name belongs to, and as what.

    A supply is a device of its own name where that has three parts: sr/ps/ch_01, else WORKSPACE/supply/NAME. Of all
    others it is WORKSPACE/KIND/FIRST, FIRST being the first part of our name. What would have the name of an attribute
    that every device has, as feedback/state, is state_value.
    """
    supplies = tuple(ws.supplies)
    kinds = {stream.instrument: stream.instrument_kind for stream in ws.streams.values()}

    def words(source: str) -> Mapping[str, str]:
        first, _, rest = source.partition("/")
        supply = source.rpartition("/")[0]
        if supply in supplies:
            device = supply if supply.count("/") == FIELDS - 1 else f"{ws.name}/supply/{supply.replace('/', '_')}"
            return _words(device, source.rpartition("/")[2], "supply")
        kind = _kind(source, kinds.get(first))
        return _words(f"{ws.name}/{kind}/{first}", rest or first, kind)

    return words


def _words(device: str, attribute: str, kind: str) -> Mapping[str, str]:
    attribute = attribute.replace("/", "_")
    if attribute.casefold() in (own.casefold() for own in OWN):
        attribute = f"{attribute}_value"
    return {"device": device, "attribute": attribute, "kind": kind}


def _kind(source: str, instrument: InstrumentKind | None) -> str:
    if instrument is not None:
        return instrument.name.lower()
    if source.startswith("orbit/"):
        return "beam"
    return "server" if source.startswith(("server/", "supply/")) else "application"


LEGAL = Legal(
    letters=r"A-Za-z0-9_.+\-/",
    longest=255,
    slash="_",
    protocol="TANGO",
    usual=NameRule("*", "{device}/{attribute}"),
    form=r"([^/]+/){3}(?!(state|status|turn)$)[a-z][a-z0-9_.\-]*",
    form_words=f"DOMAIN/FAMILY/MEMBER/ATTRIBUTE, the attribute none of {', '.join(OWN)}",
    words=words_of,
    folds_case=True,
)
"""Names that a TANGO database takes, and all of its tools."""


def device_of(name: str) -> str:
    """The device of an attribute's whole name."""
    return name.rpartition("/")[0]


def attribute_of(name: str) -> str:
    """Its name there."""
    return name.rpartition("/")[2]
