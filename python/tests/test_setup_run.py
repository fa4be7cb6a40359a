# SPDX-License-Identifier: Apache-2.0
"""A setup is applied, killed at any moment, gone on with, undone, and put back at a boot: on hosts that are folders."""

from pathlib import Path

import pytest
from fake_host import CPU, DPDK, PCI, write
from setup_host import CONFIG, WANTS, Kernel, Killed, apply_to, bare, plan_of, snapshot, steps_of, tree

from ringmaster.setup.journal import JOURNAL, alone, read
from ringmaster.setup.run import End, put_back, undo
from ringmaster.setup.step import State

HALVES = 55
"""More than before and after each of its writes and commands: at each of these moments a setup is killed."""
OVERRIDE = f"{PCI}/{DPDK}/driver_override"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a host to which nothing was done; its disk is quick."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    write(tmp_path, bare())
    return tmp_path


def undone(root: Path, kernel: Kernel | None = None) -> list[End]:
    """How each change ended that was undone."""
    return [outcome.end for outcome in undo(tree(root), kernel or Kernel(root), lambda _: None)]


def test_what_was_applied_is_as_expected_or_waits_for_a_boot(server: Path) -> None:
    kernel = Kernel(server)
    outcomes = apply_to(server, kernel)
    assert {outcome.end for outcome in outcomes} == {End.DONE}
    assert kernel.writes < HALVES / 2
    states = {name: step.state for name, step in steps_of(server).items()}
    boot = {name for name, state in states.items() if state is State.BOOT}
    assert boot == {"isolated", "nohz-full", "rcu-nocbs", "irq-affinity", "hugepages", "hugepages-1g",
                    "iommu-passthrough", "command-line"}  # fmt: skip
    assert {name for name, state in states.items() if state is State.TODO} == set()
    files = snapshot(server)
    assert files["/etc/default/grub.d/90-ringmaster.cfg"].split("\n")[-1] == (
        'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX isolcpus=managed_irq,domain,5-6 nohz_full=5-6 rcu_nocbs=5-6 '
        'irqaffinity=0-4,7 default_hugepagesz=1G hugepagesz=1G hugepages=1:4 iommu=pt"'
    )
    assert files["/boot/grub/grub.cfg"] == files["/etc/default/grub.d/90-ringmaster.cfg"]
    assert files["/etc/sysctl.d/90-ringmaster.conf"].split("\n")[1:] == [
        "kernel.sched_rt_runtime_us = -1",
        "net.core.rmem_max = 16777216",
    ]
    unit = "/etc/systemd/system/ringmaster@ring.service.d/90-setup.conf"
    assert files[unit].split("\n")[1:] == ["[Service]", "CPUAffinity=", "CPUAffinity=0-7"]
    assert files["/etc/security/limits.d/90-ringmaster.conf"].endswith("@ringmaster - memlock unlimited")
    assert files[f"{PCI}/{DPDK}/driver"].endswith("vfio-pci")
    assert kernel.commands == [
        "modprobe vfio-pci",
        'systemd-sysusers --inline u ringmaster - "Ringmaster servers" /var/lib/ringmaster',
        "systemctl daemon-reload",
        "systemctl enable ringmaster-host.service",
        "update-grub",
    ]


def test_a_second_run_changes_nothing(server: Path) -> None:
    apply_to(server)
    before = snapshot(server)
    kernel = Kernel(server)
    assert apply_to(server, kernel) == []
    assert (kernel.commands, snapshot(server)) == ([], before)


def test_undo_puts_all_back_and_a_second_one_has_nothing_to_do(server: Path) -> None:
    before = snapshot(server)
    apply_to(server)
    assert snapshot(server) != before
    assert set(undone(server)) == {End.DONE}
    after = snapshot(server)
    assert after == before
    assert not (server / JOURNAL.lstrip("/")).exists()
    assert undone(server) == []


@pytest.mark.parametrize("half", range(1, HALVES))
def test_a_setup_that_is_killed_at_any_moment_is_undone(server: Path, half: int) -> None:
    before = snapshot(server)
    try:
        apply_to(server, Kernel(server, killed_at=half / 2))
    except Killed:
        journal = read(tree(server))
        assert journal is not None
        assert not journal.complete
    assert End.FAILED not in undone(server)
    assert snapshot(server) == before


@pytest.mark.parametrize("half", range(1, HALVES, 5))
def test_a_setup_that_is_killed_goes_on(server: Path, half: int) -> None:
    whole = server / "whole"
    write(whole, bare())
    apply_to(whole)
    expected = snapshot(whole)
    host = server / "killed"
    write(host, bare())
    try:
        apply_to(host, Kernel(host, killed_at=half / 2))
    except Killed:
        apply_to(host)
    journal = read(tree(host))
    assert journal is not None
    assert journal.complete
    assert snapshot(host) == expected


@pytest.mark.parametrize("half", range(1, HALVES, 5))
def test_an_undo_that_is_killed_is_done_again(server: Path, half: int) -> None:
    before = snapshot(server)
    apply_to(server)
    try:
        undone(server, Kernel(server, killed_at=half / 2))
    except Killed:
        undone(server)
    assert snapshot(server) == before


def test_a_torn_last_line_of_the_journal_is_a_change_that_had_not_begun(server: Path) -> None:
    before = snapshot(server)
    with pytest.raises(Killed):
        apply_to(server, Kernel(server, killed_at=5))
    with (server / JOURNAL.lstrip("/")).open("a") as journal:
        journal.write('{"step": "governor", "change": {"kind": "se')
    apply_to(server)
    undone(server)
    assert snapshot(server) == before


def test_a_journal_that_is_none_stops_everything(server: Path) -> None:
    write(server, {JOURNAL: "not JSON\n"})
    with pytest.raises(ValueError, match="no journal of a setup"):
        undone(server)
    with pytest.raises(ValueError, match="no journal of a setup"):
        plan_of(server)


def test_what_another_hand_changed_since_is_left(server: Path) -> None:
    apply_to(server)
    governor = f"{CPU}/cpu5/cpufreq/scaling_governor"
    limits = "/etc/security/limits.d/90-ringmaster.conf"
    write(server, {governor: "schedutil\n", limits: "mine\n"})
    ends = undone(server)
    assert (ends.count(End.LEFT), ends.count(End.FAILED)) == (2, 0)
    assert snapshot(server)[governor] == "schedutil"
    assert snapshot(server)[limits] == "mine"
    assert undone(server) == []


def test_an_undo_that_fails_in_part_keeps_that_part_for_another_try(server: Path) -> None:
    before = snapshot(server)
    apply_to(server)
    assert undone(server, Kernel(server, refuses=["transparent"])).count(End.FAILED) == 1
    journal = read(tree(server))
    assert journal is not None
    assert [entry.step for entry in journal.entries] == ["transparent-hugepages"]
    assert undone(server) == [End.DONE]
    assert snapshot(server) == before


def test_an_interrupt_whose_driver_decides_is_no_failure(server: Path) -> None:
    ends = {outcome.step: outcome.end for outcome in apply_to(server, Kernel(server, refuses=["/irq/"]))}
    assert ends["irq-affinity"] is End.LEFT
    assert End.FAILED not in ends.values()
    assert steps_of(server)["irq-affinity"].state is State.BOOT


def test_a_kernel_without_large_pages_left_says_how_many_it_gave(server: Path) -> None:
    outcomes = {outcome.step: outcome for outcome in apply_to(server, Kernel(server, pages=310))}
    failed = outcomes["hugepages"]
    assert failed.end is End.FAILED
    assert "asked for 2048, the kernel gave 310; memory is in pieces, or full: a reboot gives them" in failed.words
    assert outcomes["command-line"].end is End.DONE
    undone(server)
    assert snapshot(server)["/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"] == "0"


def test_a_host_has_one_plan(server: Path) -> None:
    apply_to(server)
    write(server, {"/other.yaml": CONFIG})
    with pytest.raises(RuntimeError, match=r"this host is set up for .*ring\.yaml .*expected one plan for one host"):
        apply_to(server, config="/other.yaml")
    write(server, {"/ring.yaml": CONFIG.replace("core: 6", "core: 7")})
    with pytest.raises(RuntimeError, match="cores 5-6, 0000:81:00.0; it says feedback, cores 5,7"):
        apply_to(server)


def test_two_setups_at_a_time_are_one_too_many(server: Path) -> None:
    with alone(tree(server)), pytest.raises(RuntimeError, match="another `ringmaster setup` works on this host"):
        apply_to(server)


def test_without_an_iommu_the_card_waits_for_the_boot_that_brings_it(server: Path) -> None:
    group = {f"{PCI}/{DPDK}/iommu_group": "-> ../../../kernel/iommu_groups/12"}
    write(server, {"/sys/kernel/iommu_groups": None, f"{PCI}/{DPDK}/iommu_group": None})
    before = snapshot(server)
    outcomes = {outcome.step: outcome.end for outcome in apply_to(server)}
    assert outcomes["driver"] is End.LATER
    assert steps_of(server)["driver"].state is State.BOOT
    assert snapshot(server)[OVERRIDE] == "(null)"
    write(server, {**group, f"/sys/kernel/iommu_groups/12/devices/{DPDK}": ""})
    assert End.FAILED not in [outcome.end for outcome in put_back(tree(server), Kernel(server), lambda _: None)]
    assert snapshot(server)[f"{PCI}/{DPDK}/driver"].endswith("vfio-pci")
    write(server, {"/sys/kernel/iommu_groups": None, f"{PCI}/{DPDK}/iommu_group": None})
    undone(server)
    assert snapshot(server) == before


def booted(root: Path) -> None:
    """What a boot forgets: all of /sys and /proc."""
    write(root, {name: text for name, text in bare().items() if name.startswith(("/sys/", "/proc/"))})


def test_a_boot_puts_back_what_the_kernel_forgets(server: Path) -> None:
    apply_to(server)
    booted(server)
    kernel = Kernel(server)
    outcomes = put_back(tree(server), kernel, lambda _: None)
    assert {outcome.step for outcome in outcomes} == {"governor", "c-states", "driver", "transparent-hugepages"}
    assert {outcome.end for outcome in outcomes} == {End.DONE}
    assert snapshot(server)[f"{PCI}/{DPDK}/driver"].endswith("vfio-pci")
    assert kernel.commands == ["modprobe vfio-pci"]
    before = snapshot(server)
    assert put_back(tree(server), Kernel(server), lambda _: None)[0].step == "driver"  # modprobe, and no more
    assert snapshot(server) == before


def test_at_a_boot_another_card_at_the_address_stays(server: Path) -> None:
    apply_to(server)
    booted(server)
    write(server, {f"{PCI}/{DPDK}/net/eth0/address": "66:66:66:66:66:66\n"})
    (failed,) = [one for one in put_back(tree(server), Kernel(server), lambda _: None) if one.end is End.FAILED]
    assert "the card at 0000:81:00.0 is another one than the one set up; it stays" in failed.words
    assert snapshot(server)[f"{PCI}/{DPDK}/driver"].endswith("ice")


def test_at_a_boot_a_card_that_got_an_address_stays(server: Path) -> None:
    apply_to(server)
    booted(server)
    write(server, {"/proc/net/route": "Iface\neth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"})
    (failed,) = [one for one in put_back(tree(server), Kernel(server), lambda _: None) if one.end is End.FAILED]
    assert "has the default route" in failed.words
    assert snapshot(server)[f"{PCI}/{DPDK}/driver"].endswith("ice")


def test_on_a_host_that_was_not_set_up_a_boot_does_nothing(server: Path) -> None:
    before = snapshot(server)
    assert put_back(tree(server), Kernel(server), lambda _: None) == []
    assert snapshot(server) == before
    assert f"{WANTS}/ringmaster-host.service" not in before
