# SPDX-License-Identifier: Apache-2.0
"""Attaching: every way in which a workspace can be unusable says so in its own words."""

import fcntl
import os
from pathlib import Path

import fabric
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.errors import WorkspaceWarning
from ringmaster.fabric.layout import ABI_VERSION, SEGMENT_MAGIC, ObjectKind, SegmentState
from ringmaster.fabric.segment import BYTE_OWNS, BYTE_TELLS, LOCK


def test_an_absent_workspace_names_where_it_was_looked_for(root: Path) -> None:
    with pytest.raises(ringmaster.WorkspaceAbsent, match=f"{root}/demo.*ringmaster run"):
        ringmaster.attach("demo")


def test_without_any_workspace_attach_says_how_to_start_one(root: Path) -> None:
    with pytest.raises(ringmaster.WorkspaceAbsent, match=f"no workspace in {root}"):
        ringmaster.attach()


def test_a_directory_whose_server_lives_but_made_no_segment_yet_is_half_made(make_owner: MakeOwner, root: Path) -> None:
    make_owner()
    (root / "demo" / "server.segment").unlink()
    with pytest.raises(ringmaster.WorkspaceHalfMade, match="still making it"):
        ringmaster.attach("demo")


def test_a_segment_without_its_magic_is_half_made(make_owner: MakeOwner) -> None:
    owner = make_owner(header={"magic": 0})
    with pytest.raises(ringmaster.WorkspaceHalfMade, match="still making it"):
        ringmaster.attach("demo")
    owner.die()
    with pytest.raises(ringmaster.WorkspaceHalfMade, match="never finished"):
        ringmaster.attach("demo")


def test_a_segment_that_was_finished_meanwhile_outdates_what_is_attached(make_owner: MakeOwner) -> None:
    """Its file is the same before and after."""
    make_owner()
    other = make_owner(name="ramp", header={"magic": 0})
    with ringmaster.attach("demo") as ws:
        assert "ramp" not in ws.segments
        assert not ws.outdated
        other.memory[0:8] = SEGMENT_MAGIC.to_bytes(8, "little")
        assert ws.outdated
    with ringmaster.attach("demo") as ws:
        assert "ramp" in ws.segments
        assert not ws.outdated


def test_a_segment_shorter_than_its_header_is_half_made(make_owner: MakeOwner, root: Path) -> None:
    make_owner()
    (root / "demo" / "server.segment").write_bytes(b"")
    with pytest.raises(ringmaster.WorkspaceHalfMade):
        ringmaster.attach("demo")


@pytest.mark.parametrize(
    ("member", "what"),
    [("abi_version", "ABI version"), ("layout_hash", "layout"), ("header_bytes", "header size")],
)
def test_another_version_says_what_differs(make_owner: MakeOwner, member: str, what: str) -> None:
    make_owner(header={member: 99})
    with pytest.raises(ringmaster.WorkspaceVersion, match=what):
        ringmaster.attach("demo")


def test_a_dead_server_is_refused_unless_asked_for(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.text("server/version", "0.1.0")])
    owner.die()
    with pytest.raises(ringmaster.WorkspaceDead, match="has ended"):
        ringmaster.attach("demo")
    with ringmaster.attach("demo", dead=True) as ws:
        assert not ws.alive
        assert ws.texts["server/version"] == "0.1.0"


def test_a_successor_that_has_not_begun_does_not_speak_with_a_dead_servers_numbers(make_owner: MakeOwner) -> None:
    owner = make_owner()
    with ringmaster.attach("demo") as ws:
        owner.die()
        successor = (owner.directory / "server.lock").open("r+b")
        with successor:
            fcntl.fcntl(successor, fcntl.F_OFD_SETLK, LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, BYTE_OWNS, 1, 0))
            assert not ws.alive
            with pytest.raises(ringmaster.WorkspaceHalfMade, match="starting just now"):
                ringmaster.attach("demo")
            fcntl.fcntl(successor, fcntl.F_OFD_SETLK, LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, BYTE_TELLS, 1, 0))
            assert ws.alive


@pytest.mark.parametrize("state", [SegmentState.CLOSED, SegmentState.REPLACED])
def test_a_segment_that_its_owner_gave_up_is_dead(make_owner: MakeOwner, state: SegmentState) -> None:
    owner = make_owner()
    with ringmaster.attach("demo") as ws:
        assert ws.alive
        owner.set_state(state)
        assert not ws.alive
    with pytest.raises(ringmaster.WorkspaceDead):
        ringmaster.attach("demo")


@pytest.mark.parametrize("header", [{"segment_bytes": 1 << 40}, {"object_count": 1 << 20}])
def test_a_truncated_segment_is_damaged(make_owner: MakeOwner, header: dict[str, int]) -> None:
    make_owner(header=header)
    with pytest.raises(ringmaster.WorkspaceDamaged, match="shorter than its header says"):
        ringmaster.attach("demo")


def test_an_object_beyond_the_end_is_damaged(make_owner: MakeOwner) -> None:
    spec = fabric.text("server/version", "0.1.0")
    owner = make_owner([spec])
    owner.set_directory(0, "bytes", 1 << 30)
    with pytest.raises(ringmaster.WorkspaceDamaged, match="beyond the end"):
        ringmaster.attach("demo")


def test_an_unknown_kind_of_object_is_damaged(make_owner: MakeOwner) -> None:
    spec = fabric.text("server/version", "0.1.0")
    owner = make_owner([spec])
    owner.set_directory(0, "kind", 77)
    with pytest.raises(ringmaster.WorkspaceDamaged, match="server/version"):
        ringmaster.attach("demo")


def test_without_a_name_the_only_living_workspace_is_taken(make_owner: MakeOwner) -> None:
    make_owner(workspace="old").die()
    make_owner(workspace="demo")
    with ringmaster.attach() as ws:
        assert ws.name == "demo"
    make_owner(workspace="other")
    with pytest.raises(ringmaster.WorkspaceAbsent, match="several workspaces .*demo, other"):
        ringmaster.attach()


def test_a_name_with_a_slash_is_a_path(make_owner: MakeOwner, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_owner()
    monkeypatch.setenv("RINGMASTER_WORKSPACES", "/nonexistent")
    with ringmaster.attach(str(root / "demo")) as ws:
        assert ws.alive


def test_other_owners_are_mapped_when_they_are_whole(make_owner: MakeOwner) -> None:
    make_owner([fabric.text("server/version", "0.1.0")])
    make_owner([fabric.text("ring/version", "0.2.0")], name="ring")
    make_owner([], name="unfinished", header={"magic": 0})
    make_owner([], name="stranger", header={"abi_version": ABI_VERSION + 1})
    with pytest.warns(WorkspaceWarning, match="stranger is left out"):
        ws = ringmaster.attach("demo")
    with ws:
        assert {Path(path).name for path in ws.left_out} == {"unfinished.segment", "stranger.segment"}
        assert list(ws.segments) == ["server", "ring"]
        assert ws.objects["ring/version"].kind == ObjectKind.TEXT
        assert ws.objects["ring/version"].owner == "ring"
        assert ws.texts["ring/version"] == "0.2.0"


def test_a_workspace_knows_when_other_owners_have_come(make_owner: MakeOwner) -> None:
    make_owner()
    with ringmaster.attach("demo") as ws:
        assert not ws.outdated
        make_owner(name="ring")
        assert ws.outdated


def test_streams_outlive_their_workspace(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.stream("bpm01/turn")])
    owner.fill("bpm01/turn", 1, 5)
    with ringmaster.attach("demo") as ws:
        stream = ws.streams["bpm01/turn"]
    assert stream.latest(5)["x1"].tolist() == [1, 2, 3, 4, 5]


def test_closing_again_does_no_harm(make_owner: MakeOwner) -> None:
    """Also while an array keeps the memory."""
    owner = make_owner([fabric.stream("bpm01/turn")])
    owner.fill("bpm01/turn", 1, 5)
    with ringmaster.attach("demo") as ws:
        stream = ws.streams["bpm01/turn"]
        ws.close()
        ws.close()
    assert stream.latest(5)["x1"].tolist() == [1, 2, 3, 4, 5]


def test_a_wrong_name_suggests_the_nearest(make_owner: MakeOwner) -> None:
    make_owner([fabric.stream("bpm01/turn"), fabric.counters("stream/bpm01", "stream")])
    with ringmaster.attach("demo") as ws:
        with pytest.raises(ringmaster.ObjectNotFound, match="'bpm1/turn'; did you mean 'bpm01/turn'"):
            ws.streams["bpm1/turn"]
        with pytest.raises(KeyError):
            ws.counters("stream/zzz")
        assert "bpm01/turn" in ws.streams
        assert "bpm02/turn" not in ws.streams
