# SPDX-License-Identifier: Apache-2.0
"""How a bench ends that is asked to, where it may write, and what the shell completes."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from ringmaster.cli.bench import bench
from ringmaster.cli.bench_output import ended_as_by_ctrl_c
from ringmaster.cli.complete import VARIABLE
from ringmaster.cli.main import cli

ENDING = (signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def hang_up_is_heard() -> Iterator[None]:
    """Also where the tests themselves were started by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hang_up_is_heard")
@pytest.mark.parametrize("number", ENDING)
def test_a_signal_that_ends_is_an_interrupt_and_only_once(number: signal.Signals) -> None:
    before = [signal.getsignal(one) for one in ENDING]
    with ended_as_by_ctrl_c():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        for again in ENDING:
            os.kill(os.getpid(), again)
    assert [signal.getsignal(one) for one in ENDING] == before


def test_what_is_ignored_stays_so() -> None:
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_as_by_ctrl_c():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, handler)


@pytest.mark.parametrize("command", ["rtt", "power", "suite", "ingest"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_measured(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(bench, [command, "--report", str(tmp_path / "file" / "below")])
    assert done.exit_code == 2
    assert "expected a directory to write to" in " ".join(done.output.split())
    assert not (tmp_path / "file" / "below").exists()


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        (["bench"], "j", ["jitter"]),
        (["bench", "rtt"], "--l", ["--left", "--loads"]),
        (["bench", "rtt", "--kinds"], "memif,u", ["memif,udp", "memif,udp-spin"]),
        (["bench", "rtt", "--loads"], "", ["idle", "loaded"]),
        (
            ["bench", "suite", "--benches"],
            "rtt,jitter,p",
            ["rtt,jitter,power", "rtt,jitter,parameters", "rtt,jitter,plan"],
        ),
        (["bench", "throughput", "--kinds"], "udp,udp", ["udp,udp-32"]),
        (["bench", "loop", "--ring"], "", ["elettra", "elettra2"]),
        (["doctor", "--for"], "f", ["feedback"]),
        (["doctor"], "hugepages-", ["hugepages-1g", "hugepages-nodes"]),
    ],
)
def test_the_shell_completes_commands_options_and_lists(words: list[str], begun: str, offered: list[str]) -> None:
    found = ShellComplete(cli, {}, "ringmaster", VARIABLE).get_completions(words, begun)
    assert [item.value for item in found] == offered
