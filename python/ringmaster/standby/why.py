# SPDX-License-Identifier: Apache-2.0
"""What keeps the standby of a pair from READY, in sentences."""

from collections.abc import Iterator, Mapping

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.layout import StandbyReason, StandbyRole
from ringmaster.fabric.workspace import Workspace
from ringmaster.standby.figures import StandbyFigures
from ringmaster.standby.names import REASONS

LINK = "link"
LINK_WORDS: dict[str, str] = {
    "bad_key": "{count} datagrams of the link were not made with this key: both servers need the same one",
    "bad_version": "{count} datagrams of the link were of a version that this build does not speak",
    "refused": "{count} datagrams of the link were of another session: does a third server use these addresses?",
    "full": "{count} datagrams of the link were not taken by the network: its queue is full",
}
"""Counters of set "link" that should be zero."""
FOLLOW_WORDS: dict[str, str] = {
    "differences": "{count} steps came to other bits than the active server's",
    "inputs_missing": "{count} inputs were missing here that the active server had",
}
"""Counters of set "follow" that should be zero."""


def link_counts(ws: Workspace) -> Mapping[str, int]:
    """Of the process of the link; empty where there are none."""
    blocks = [dict(block) for block in ws.counter_blocks.values() if block.set_name == LINK]
    return blocks[0] if blocks else {}


def sentences(figures: StandbyFigures, link: Mapping[str, int]) -> list[str]:
    """Empty where one server is active and the other one READY, and the next take-over needs nobody."""
    return [*_of_the_pair(figures), *_of_the_link(figures, link), *_of_take_overs(figures)]


def read_sentences(ws: Workspace, figures: StandbyFigures) -> list[str]:
    """The same of a workspace."""
    try:
        return sentences(figures, link_counts(ws))
    except WorkspaceError:
        return sentences(figures, {})


def _of_the_pair(it: StandbyFigures) -> Iterator[str]:
    if not it.link.runs:
        yield (
            f"{it.server} is alone: the process of its link does not run; start it with "
            f"`ringmaster standby run FILE@{it.server}`"
        )
    if it.role == StandbyRole.ACTIVE:
        yield from _of_the_peer(it)
    elif it.role == StandbyRole.READY:
        yield from _of_a_ready_pair(it)
    else:
        yield from _of_this_server(it)


def _of_a_ready_pair(it: StandbyFigures) -> Iterator[str]:
    """What the link still has to say: of different builds, of neither being active."""
    if it.link.runs and it.link.why:
        yield it.link.why


def _of_the_peer(it: StandbyFigures) -> Iterator[str]:
    peer, link = it.peer, it.link
    if not link.runs:
        return
    if link.peer_role == StandbyRole.READY:
        yield from _of_a_ready_pair(it)
        return
    if link.peer_role is None:
        yield (
            f"{peer} is not heard: is it on, does `ringmaster standby run FILE@{peer}` run there, are the cables in, "
            f"is the key the same?"
        )
    elif link.peer_role == StandbyRole.MAINTENANCE:
        yield f"{peer} is held by an operator: `ringmaster standby release` there lets it join"
    elif link.peer_role == StandbyRole.ACTIVE:
        yield f"{peer} says that it is active, too: the chains decide within some cycles which of the two goes on"
    else:
        yield link.why or f"{peer} is {link.peer_role.name}"


def _of_this_server(it: StandbyFigures) -> Iterator[str]:
    if it.role == StandbyRole.MAINTENANCE:
        yield f"{it.server} is held by an operator: `ringmaster standby release` lets it join"
        return
    reason = "" if it.reason in (StandbyReason.STARTED, StandbyReason.COPIED) else REASONS[it.reason]
    yield f"{it.server} is {it.role.name}{_because(reason)}{_because(it.link.why if it.link.runs else '')}"
    if it.role == StandbyRole.JOINING and it.link.runs and it.link.peer_role != StandbyRole.ACTIVE:
        yield (
            f"{it.peer} is {it.link.peer_role.name if it.link.peer_role is not None else 'not heard'}: there is no "
            f"active server to copy from. {it.server} begins when the chains have stood without setpoints for "
            f"`standby.begin_s`"
        )
    for follower in it.followers:
        if not follower.in_step:
            yield f"application {follower.application} is not in step{_because(_found(follower.counts))}"


def _found(counts: Mapping[str, int]) -> str:
    return ", ".join(text.format(count=counts[name]) for name, text in FOLLOW_WORDS.items() if counts.get(name))


def _because(text: str) -> str:
    return f": {text}" if text else ""


def _of_the_link(it: StandbyFigures, link: Mapping[str, int]) -> Iterator[str]:
    if it.followed:
        return
    for name, text in LINK_WORDS.items():
        if link.get(name):
            yield text.format(count=link[name])


def _of_take_overs(it: StandbyFigures) -> Iterator[str]:
    if it.unacknowledged:
        yield (
            f"{it.server} took over by itself, which nobody has acknowledged: the next automatic take-over waits for "
            f"`ringmaster standby acknowledge`"
        )
    elif it.link.peer_unacknowledged:
        yield (
            f"{it.peer} took over by itself, which nobody has acknowledged: {it.server} does so only after "
            f"`ringmaster standby acknowledge`"
        )
