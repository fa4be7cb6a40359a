# SPDX-License-Identifier: Apache-2.0
"""`ringmaster align`: make all instruments count the same turns."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import dead_option, examples, json_option, print_json, workspace_option

if TYPE_CHECKING:
    from ringmaster.beam.align import Aligner, Alignment
    from ringmaster.beam.kick_watch import KickWatch
    from ringmaster.fabric.workspace import Workspace

Say = Callable[[str], None]


@click.command(
    epilog=examples(
        "ringmaster align",
        "ringmaster align --kicks 3 --write configs/demo.yaml",
        "ringmaster align --kick 'caput kicker:trigger 1' --reference bpm01",
        "ringmaster align --dead --json | jq '.instruments[] | select(.offset != 0)'",
    )
)
@workspace_option
@dead_option
@click.option("--kicks", type=click.IntRange(1, 100), default=1, show_default=True, help="How many to combine.")
@click.option("--kick", "command", metavar="COMMAND", help="Run this before each kick: it causes one.")
@click.option("--reference", metavar="NAME", help="Align to this instrument, not to the majority.")
@click.option(
    "--range",
    "range_turns",
    type=click.IntRange(16, 1 << 20),
    default=4096,
    show_default=True,
    metavar="TURNS",
    help="How far off an instrument may be.",
)
@click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="Give up waiting; default: wait for ever.")
@click.option(
    "--write", "config", type=click.Path(path_type=Path), metavar="CONFIG.yaml", help="Change its turn_offset keys."
)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="--write: leave the file, write this.")
@json_option
def align(
    workspace: str | None,
    dead: bool,
    kicks: int,
    command: str | None,
    reference: str | None,
    range_turns: int,
    timeout: float | None,
    config: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find each instrument's turn_offset from a kick of the beam, which all of them see.

    A kick that is still in the rings is taken; otherwise one is waited for, or caused by --kick. Ctrl-C ends the
    waiting and keeps what was found. The server reads a changed configuration when it starts anew.
    """
    from ringmaster.beam.align import Aligner
    from ringmaster.beam.kick_watch import KickWatch
    from ringmaster.fabric.config_file import split
    from ringmaster.fabric.workspace import attach

    if output is not None and config is None:
        raise click.UsageError("--output is where --write writes to: say --write CONFIG.yaml too")

    def say(text: str) -> None:
        click.echo(text, err=True)

    with attach(workspace, dead) as ws:
        aligner = Aligner(ws, range_turns, reference)
        _collect(
            KickWatch(aligner.bpms, command is not None, _nothing if dead else ws.check),
            aligner,
            kicks,
            command,
            timeout,
            say,
        )
        if not aligner.kick_turns:
            raise click.ClickException(
                "no kick of the beam was seen, so no turn_offset is known: kick the beam, or use --kick COMMAND"
            )
        alignments = aligner.alignments()
        present = _present_offsets(ws)
        if as_json:
            print_json({"kicks": aligner.kick_turns, "instruments": [_plain(a, present) for a in alignments]})
        else:
            _print_table(alignments, present)
        if config is not None:
            file, _ = split(config)  # of FILE@NAME: both servers' instruments are the same
            _write(alignments, present, file, output or file, say)


def _nothing() -> None:
    """What an ended server left is looked at as it is."""


def _collect(
    watch: "KickWatch", aligner: "Aligner", kicks: int, command: str | None, timeout: float | None, say: Say
) -> None:
    """Adds kicks until there are enough, the time is over, or the user has enough of it."""
    import subprocess

    try:
        while len(aligner.kick_turns) < kicks:
            if command is not None:
                subprocess.run(command, shell=True, check=True)
            else:
                limit = "without a limit (--timeout sets one)" if timeout is None else f"up to {timeout:g} s"
                say(
                    f"looking for kick {len(aligner.kick_turns) + 1} of {kicks} in the turns of "
                    f"{', '.join(watch.names)}; waits {limit}; --kick COMMAND causes one; Ctrl-C ends it"
                )
            turn = next((turn for turn in watch.kicks(timeout) if aligner.add(turn)), None)
            if turn is None:
                say(f"no kick within {timeout:g} s")
                return
            say(f"kick {len(aligner.kick_turns)} of {kicks} at turn {aligner.kick_turns[-1]}")
    except KeyboardInterrupt:
        say(f"stopped after {len(aligner.kick_turns)} of {kicks} kicks")
    except subprocess.CalledProcessError as error:
        raise click.ClickException(f"--kick: {command!r} ended with status {error.returncode}") from error


def _present_offsets(ws: "Workspace") -> dict[str, int]:
    """Those that the server runs with; empty where it does not say."""
    from ringmaster.beam import turn_offsets

    return turn_offsets.read(ws.texts["server/config"]) if "server/config" in ws.texts else {}


def _new_offset(alignment: "Alignment", present: dict[str, int]) -> int | None:
    """What turn_offset should be; None where that is not known."""
    if not alignment.sure or alignment.offset is None or alignment.name not in present:
        return None
    return present[alignment.name] - alignment.offset


def _plain(alignment: "Alignment", present: dict[str, int]) -> dict[str, Any]:
    return {
        "name": alignment.name,
        "kind": alignment.kind.name.lower(),
        "kick_seen_at_turn": alignment.turn,
        "offset": alignment.offset,
        "confidence": round(alignment.confidence, 4),
        "turn_offset": present.get(alignment.name),
        "new_turn_offset": _new_offset(alignment, present),
        "note": alignment.note,
    }


def _print_table(alignments: "list[Alignment]", present: dict[str, int]) -> None:
    def number(value: int | None) -> str:
        return "–" if value is None else str(value)

    rows = [("NAME", "KICK SEEN AT", "OFFSET", "TURN_OFFSET", "NEW", "CONFIDENCE", "")]
    for a in alignments:
        offset = "–" if a.offset is None else f"{a.offset:+d}" if a.offset else "0"
        confidence = "–" if a.offset is None else f"{100 * a.confidence:.0f} %"
        new = number(_new_offset(a, present))
        rows.append((a.name, number(a.turn), offset, number(present.get(a.name)), new, confidence, a.note))
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    for row in rows:
        figures = "  ".join(cell.rjust(width) for cell, width in zip(row[1:6], widths[1:], strict=True))
        click.echo(f"{row[0]:<{widths[0]}}  {figures}  {row[6]}".rstrip())


def _write(alignments: "list[Alignment]", present: dict[str, int], config: Path, output: Path, say: Say) -> None:
    """Writes the offsets that are sure and change."""
    from ringmaster.beam import turn_offsets

    wanted = {a.name: _new_offset(a, present) for a in alignments if a.offset != 0}
    new = {name: offset for name, offset in wanted.items() if offset is not None}
    if not new and output == config:
        say(f"{config}: nothing to change")
        return
    turn_offsets.write(output, turn_offsets.change(config.read_text(), str(config), present, new))
    say(f"{output}: {len(new)} turn_offset written; the server takes them when it starts anew")
