# SPDX-License-Identifier: Apache-2.0
"""Plans: of Elettra 2.0 on the shipped machine, of small machines, and what does not fit."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from command import ringmaster
from hypothesis import given, settings
from hypothesis import strategies as st

from ringmaster.doctor import cpu_list
from ringmaster.plan.apply import planned_text
from ringmaster.plan.costs import DEFAULT
from ringmaster.plan.demand import Demand, of_config, read_demand
from ringmaster.plan.judge import judge
from ringmaster.plan.machine_file import read_machine
from ringmaster.plan.place import Rules, make_plan
from ringmaster.plan.predict import predict
from ringmaster.plan.roles import Role, receive_load
from ringmaster.plan.topology import Core, Machine

MACHINES = Path(__file__).parents[2] / "configs" / "machines"
ELETTRA2, EPYC = MACHINES / "elettra2.yaml", MACHINES / "epyc-9755-dual.yaml"
TURN_RATE_HZ = 1157000.0


def machine(cores: int, threads: int = 1) -> Machine:
    """One socket, one chiplet."""
    made = (Core(i, 0, 0, 0, tuple(i + cores * t for t in range(1, threads))) for i in range(cores))
    return Machine("small", tuple(made))


def demand(*counts: int, kind: str = "memif", **more: object) -> Demand:
    """So many instruments on each port, an address each."""
    ports = [{"name": f"p{i}", "kind": kind} for i in range(len(counts))]
    senders = [
        {"name": f"b{i}x{j}", "kind": "bpm", "id": j, "port": f"p{i}", "source": f"10.{i}.0.{j + 1}"}
        for i, count in enumerate(counts)
        for j in range(count)
    ]
    return of_config({"workspace": "w", "ports": ports, "instruments": senders, "roles": [], **more})


def test_elettra_2_fits_its_server_near_its_cards() -> None:
    """Each port on a chiplet of its card's socket, none of Linux's cores, no second thread of a core."""
    known, asked = read_machine(EPYC), read_demand(ELETTRA2)
    assert asked.instruments == 200
    assert 110e6 < asked.packets_per_s < 140e6
    judged = judge(make_plan(known, asked, DEFAULT))
    plan, prediction = judged.plan, judged.prediction
    assert judged.fits
    assert plan.tier == "chiplet"
    assert prediction.peak <= plan.rules.limit
    assert prediction.receive_cores < 24  # the paper's
    assert prediction.memory_bytes_per_s < 80e9  # the paper's
    used = {role.core for role in plan.roles if role.kind not in ("housekeeping", "exception_path")}
    assert len(used) == len([role for role in plan.roles if role.kind not in ("housekeeping", "exception_path")])
    chiplets: dict[str, set[int]] = {}
    for role in plan.roles:
        core = known.core_of(role.core)
        assert core is not None
        assert core.number == role.core
        if role.core in used:
            assert role.core not in plan.linux
        for port in role.ports:
            device = known.device(next(one.device for one in asked.ports if one.name == port))
            assert device is not None
            assert core.socket == device.socket
            chiplets.setdefault(port, set()).add(core.chiplet)
    assert all(len(found) == 1 for found in chiplets.values())
    assert len(set.union(*chiplets.values())) == len(asked.ports)
    places = {role.name: known.core_of(role.core) for role in plan.roles}
    transmit, feedback = places["transmit"], places["process feedback"]
    assert transmit is not None
    assert feedback is not None
    assert transmit.chiplet == feedback.chiplet
    assert judged.uncertainty.receive_cores.low <= prediction.receive_cores <= judged.uncertainty.receive_cores.high


def test_each_queue_is_polled_once() -> None:
    """Whatever the number of queues that a port is given."""
    plan = make_plan(read_machine(EPYC), read_demand(ELETTRA2), DEFAULT, Rules(limit=0.3))
    polled = [queue for role in plan.roles if role.kind == "receive" for queue in role.queues]
    assert sorted(polled) == sorted((port, i) for port, count in plan.dealt.items() for i in range(count))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 14), min_size=1, max_size=4), st.integers(2, 4), st.sampled_from([0.4, 0.7, 1.0]))
def test_a_plan_fits_where_one_of_all_ways_does(counts: list[int], cores: int, limit: float) -> None:
    """Ports that cannot be divided, on a machine whose first core is Linux's: as feasible as brute force."""
    asked = demand(*counts)
    plan = make_plan(machine(cores), asked, DEFAULT, Rules(limit=limit))
    loads = [receive_load(asked, DEFAULT, [port.senders]) for port in asked.ports]
    peaks = []
    for way in product(range(cores - 1), repeat=len(loads)):
        peaks.append(max(sum(load for load, core in zip(loads, way, strict=True) if core == one) for one in set(way)))
    units: dict[int, float] = {}
    for role in plan.roles:
        for port in role.ports:
            units[role.core] = units.get(role.core, 0.0) + loads[int(port[1:])]
    assert 0 not in units
    assert max(units.values()) <= 1.1 * min(peaks) + 1e-9
    assert (max(units.values()) <= limit + 1e-9) == (min(peaks) <= limit + 1e-9)


def test_what_does_not_fit_is_said_with_why_and_what_to_add() -> None:
    """One address on one core; a port that cannot be divided; more ports than cores."""
    one = of_config(
        {
            "ports": [{"name": "p", "kind": "pci", "device": "0000:01:00.0"}],
            "instruments": [{"name": "b", "kind": "bpm", "id": 1, "count": 40, "port": "p", "source": "10.0.0.1"}],
        }
    )
    judged = judge(make_plan(machine(8), one, DEFAULT))
    assert not judged.fits
    assert "10.0.0.1" in judged.misfits[0].remedy
    assert "4 addresses" in judged.misfits[0].remedy or "addresses" in judged.misfits[0].remedy
    undivided = judge(make_plan(machine(8), demand(40), DEFAULT))
    assert "spread: true" in undivided.misfits[0].remedy
    small = judge(make_plan(machine(2), demand(9, 9), DEFAULT))
    assert "more core" in small.misfits[0].remedy
    assert "145 %" in small.misfits[0].why or "%" in small.misfits[0].why


def test_a_slot_and_a_link_that_carry_too_much_are_misfits(tmp_path: Path) -> None:
    """A card of 1 Gb/s in a slot of one lane."""
    cards = "cards:\n  - {device: '0000:01:00', link_gbps: 1, socket: 0, pcie: {generation: 1, lanes: 1}}\n"
    path = tmp_path / "m.yaml"
    path.write_text(
        "{name: m, sockets: 1, chiplets: 1, cores: 4}\n".replace("{", "").replace("}", "").replace(", ", "\n") + cards
    )
    asked = of_config(
        {
            "ports": [{"name": "p", "kind": "pci", "device": "0000:01:00.0"}],
            "instruments": [
                {"name": f"b{i}", "kind": "bpm", "id": i, "port": "p", "source": f"10.0.0.{i}"} for i in range(1, 9)
            ],
        }
    )
    names = {one.what for one in judge(make_plan(read_machine(path), asked, DEFAULT)).misfits}
    assert names == {"link of p", "slot 0000:01:00"}


def test_mirrored_ports_are_polled_by_one_role() -> None:
    """It merges the copies."""
    ports = [{"name": name, "kind": "pci", "device": f"0000:0{i}:00.0"} for i, name in enumerate("ab")]
    mirrored = {"name": "b", "kind": "bpm", "id": 1, "port": "a", "source": "10.0.0.1", "mirror": {"port": "b"}}
    plan = make_plan(machine(8), of_config({"ports": ports, "instruments": [mirrored]}), DEFAULT)
    assert [role.queues for role in plan.roles if role.kind == "receive"] == [(("a", 0), ("b", 0))]


def test_a_grouping_is_one_datagram_of_all_its_instruments() -> None:
    """168 BPMs of Libera Grouping."""
    entry = {"name": "b", "kind": "bpm", "id": 0, "count": 168, "port": "p", "source": "10.0.0.1"}
    entry |= {"format": "libera_grouping", "period_turns": 100}
    port = of_config({"ports": [{"name": "p", "kind": "memif"}], "instruments": [entry]}).ports[0]
    assert port.packets_per_s == pytest.approx(TURN_RATE_HZ / 100)
    assert port.senders[0].records_per_s == pytest.approx(168 * TURN_RATE_HZ / 100)
    assert port.bytes_per_s == pytest.approx((42 + 168 * 16) * TURN_RATE_HZ / 100)


def test_a_loop_gets_cores_of_its_own_where_there_are_some_and_shares_them_where_not() -> None:
    """Transmit and application; the plan says when they share."""
    more: dict[str, Any] = {
        "setpoints": {"period_turns": 12, "lead": "f"},
        "chains": [{"name": "c", "id": 1, "port": "p0", "address": "10.9.0.1", "supplies": [{"count": 13}]}],
        "applications": [{"name": "f", "code": "feedback", "hosted": True, "inputs": ["b0x*/low_latency"]}],
    }
    asked = demand(4, **more)
    assert asked.applications[0].ports == {"p0": 4}
    wide = make_plan(machine(6), asked, DEFAULT)
    assert len({role.core for role in wide.roles if role.kind in ("receive", "transmit", "application")}) == 3
    tight = make_plan(machine(2), asked, DEFAULT)
    assert {role.core for role in tight.roles if role.kind != "housekeeping"} == {1}
    assert any("share one with others" in remark for remark in tight.remarks)


def test_the_prediction_of_two_roles_on_a_core_is_the_sum() -> None:
    """But for the caches, which hold the state of all its instruments."""
    asked = demand(4, 4)
    plan = make_plan(machine(2), asked, DEFAULT, Rules(limit=1.0))
    load = predict(plan.machine, asked, DEFAULT, plan.roles, plan.dealt).cores[-1].load
    each = receive_load(asked, DEFAULT, [asked.ports[0].senders], instruments=8, core_packets_per_s=asked.packets_per_s)
    assert load == pytest.approx(2 * each)


def test_the_command_prints_json_draws_and_writes_a_configuration(tmp_path: Path) -> None:
    """As a person asks for it."""
    out, picture = tmp_path / "planned.yaml", tmp_path / "plan.svg"
    said = json.loads(
        ringmaster(
            *("plan", str(ELETTRA2), "--machine", str(EPYC), "--json", "--plot", str(picture), "--apply", str(out))
        ).stdout
    )
    assert said["receive_cores"] == len([role for role in said["roles"] if role["role"] == "receive"])
    assert said["memory_bytes_per_s"] > 1e9
    assert set(said["load"]) == {str(role["core"]) for role in said["roles"]}
    assert "socket 1" in picture.read_text()
    planned = read_demand(out)
    assert {port.name: port.queues for port in planned.ports} == said["queues"]
    assert len(planned.roles) == len([role for role in said["roles"] if role["role"] != "process"])
    assert next(one.core for one in planned.applications if one.name == "feedback") is not None
    spare = re.search('^spare_cores: "(.*)"$', out.read_text(), re.MULTILINE)
    assert spare is not None
    kept = set(cpu_list.parse(spare[1]) or ())
    assert kept
    assert not kept & {role["core"] for role in said["roles"]} | kept & set(said["linux"])
    assert len(kept) + len(planned.roles) <= 64
    before, after = ELETTRA2.read_text().splitlines(), out.read_text().splitlines()
    assert [line for line in before if line.startswith("#")] == [line for line in after if line.startswith("#")]


def test_spare_cores_are_written_behind_the_roles_replaced_or_taken_out(tmp_path: Path) -> None:
    """And left as they are where nothing is said of them."""
    path, roles = tmp_path / "ring.yaml", [Role("receive", 3, (("p", 0),))]
    path.write_text("ports: [{name: p, kind: memif}]\nroles:\n  - {role: receive, core: 1, ports: [p]}\n# the end\n")
    written = planned_text(path, roles, {"p": 1}, (1, 2, 4))
    assert written.splitlines()[1:] == ["roles:", "  - {role: receive, core: 3, ports: [p]}", 'spare_cores: "1-2,4"',
                                        "# the end"]  # fmt: skip
    path.write_text(written)
    assert planned_text(path, roles, {"p": 1}) == written
    assert 'spare_cores: "5"\n# the end' in planned_text(path, roles, {"p": 1}, (5,))
    assert "spare_cores" not in planned_text(path, roles, {"p": 1}, ())
    path.write_text('{"ports": [], "roles": []}')
    with pytest.raises(ValueError, match="in braces"):
        planned_text(path, roles, {"p": 1})


def test_the_command_ends_with_1_and_writes_nothing_where_it_does_not_fit(tmp_path: Path) -> None:
    """Of a machine too small."""
    small = tmp_path / "small.yaml"
    small.write_text("name: small\nsockets: 1\nchiplets: 1\ncores: 2\n")
    said = ringmaster("plan", str(ELETTRA2), "--machine", str(small), expect=1).stdout
    assert "does not fit" in said
    assert "add:" in said
    out = tmp_path / "out.yaml"
    told = ringmaster("plan", str(ELETTRA2), "--machine", str(small), "--apply", str(out), expect=1).stderr
    assert "was not written" in told
    assert not out.exists()


SCALE = ((1, 17.4e6, 0.92, 0.92), (2, 34.0e6, 0.92, 0.92), (4, 69.0e6, 0.94, 0.99), (7, 117.5e6, 0.85, 0.96))
"""Receive cores, packets a second, and between what they were busy, of one run: docs/notes/receiving.md."""


def test_what_one_core_costs_predicts_what_two_four_and_seven_do() -> None:
    """As it was measured on sixteen cores: within a quarter of it."""
    first = None
    for cores, rate, low, high in SCALE:
        share = rate / cores / 15 / TURN_RATE_HZ
        asked = demand(*[15] * cores, turn_rate_hz=TURN_RATE_HZ * share)
        unscaled = judge_peak(asked, cores, 1.0)
        first = first or SCALE[0][2] / unscaled
        predicted = judge_peak(asked, cores, first)
        assert 0.75 * high <= predicted <= 1.25 * low


def judge_peak(asked: Demand, cores: int, factor: float) -> float:
    """The fullest core with costs that are so many times the default's."""
    costs = DEFAULT.scaled(factor)
    plan = make_plan(machine(cores + 1), asked, costs, Rules(limit=1.0))
    prediction = predict(plan.machine, asked, costs, plan.roles, plan.dealt)
    assert prediction.receive_cores == cores
    return prediction.peak
