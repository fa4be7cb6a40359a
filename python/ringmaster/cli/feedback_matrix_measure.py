# SPDX-License-Identifier: Apache-2.0
"""`ringmaster feedback matrix measure`: the response matrix of the living machine, with or without a feedback."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.feedback_options import a_feedback, output_option, rf_option
from ringmaster.cli.options import examples

if TYPE_CHECKING:
    from ringmaster.fabric.workspace import Workspace
    from ringmaster.feedback.loop import Feedback
    from ringmaster.feedback.matrix import Matrix
    from ringmaster.feedback.measured import Plan, Progress, Response

NAMED = 5
"""So many names are told, of those that are left out."""


@click.command(
    epilog=examples(
        "ringmaster feedback matrix measure --amplitude 0.05 -o response.csv",
        "ringmaster feedback matrix measure --amplitude 0.05 --amplitude sr/rf=200 --rf sr/rf -o response.csv",
        "ringmaster feedback matrix measure --amplitude 0.05 --supplies 'sr/h_*' --readings 'bpm*/x?' -o h.csv",
        "ringmaster feedback matrix measure --amplitude 0.05 --supplies 'ps/cfx_*' --sine 8 --seconds 1 -o new.csv",
    )
)
@click.option(
    "--amplitude",
    "amplitudes",
    multiple=True,
    required=True,
    metavar="[SUPPLIES=]VALUE",
    help="±, in the supply's unit. May be repeated: a name or a pattern says whose, a number alone is for the others.",
)
@click.option("--supplies", multiple=True, metavar="PATTERN", help="Only these. May be repeated.")
@click.option("--readings", multiple=True, metavar="PATTERN", help="Only these BPMs, or INSTRUMENT/LANE. Repeatable.")
@click.option("--sine", "hz", type=click.FloatRange(0), default=0.0, metavar="HZ", help="A sine, instead of + and −.")
@click.option("--seconds", type=click.FloatRange(0.01), default=0.2, show_default=True, help="Of data at each sign.")
@click.option(
    "--settle",
    type=click.FloatRange(0),
    default=0.05,
    show_default=True,
    metavar="SECONDS",
    help="From the supply's arrival to the data.",
)
@click.option("--averages", type=click.IntRange(1), default=2, show_default=True, help="How often each is moved.")
@click.option("--rate", metavar="RATE", help="Of the streams: raw, turn, fast; without it the slowest that there is.")
@rf_option
@output_option
@click.option("--errors", type=click.Path(path_type=Path), metavar="FILE.csv", help="Standard errors, as a matrix.")
@a_feedback
def measure(
    workspace: str | None,
    name: str,
    configuration: Path | None,
    amplitudes: tuple[str, ...],
    supplies: tuple[str, ...],
    readings: tuple[str, ...],
    hz: float,
    seconds: float,
    settle: float,
    averages: int,
    rate: str | None,
    rf: str | None,
    output: Path,
    errors: Path | None,
) -> None:
    """Measure the response of the living machine, loop off: move each supply a little, plus and minus, read the BPMs.

    The first matrix needs a server with BPMs and supplies, and nothing else: the operator's supplies are moved, as by
    `ringmaster put`, and all BPMs are read. Where the feedback runs, it moves its own supplies. Then rows and columns
    are those of its matrix, and what --supplies leaves out is taken from there.

    Each supply is waited for, by its readback. At the end it is back where it stood, after Ctrl-C and errors too.
    """
    from ringmaster.fabric.workspace import attach
    from ringmaster.feedback.loop import Feedback, runs
    from ringmaster.feedback.measured import Plan

    plan = Plan(math.nan, hz, seconds, settle, averages)
    asked = Asked(plan, _amplitudes(amplitudes), supplies, readings, rate)
    with attach(workspace) as ws:
        if runs(ws, name):
            found, before = _by_feedback(Feedback(ws, name, configuration), asked, rf)
        else:
            found, before = _by_hand(ws, asked, rf), None
        about = f"measured in {ws.name}: {_how(asked)}"
    _write(found, before, rf, output, errors, about)
    _tell(found, output)


class Asked:
    """What the options say."""

    def __init__(
        self,
        plan: "Plan",
        amplitudes: list[tuple[str, float]],
        supplies: Sequence[str],
        readings: Sequence[str],
        rate: str | None,
    ) -> None:
        self.plan = plan
        self.amplitudes = amplitudes
        """Pattern and value; "" for all others."""
        self.supplies = supplies
        self.readings = readings
        self.rate = rate

    def plans(self, ws: "Workspace", names: Sequence[str]) -> "list[Plan]":
        """One for each supply. Raises UsageError where its amplitude is not said."""
        from dataclasses import replace
        from fnmatch import fnmatchcase

        own = [(pattern, value) for pattern, value in self.amplitudes if pattern]
        rest = [value for pattern, value in self.amplitudes if not pattern]
        unit_of: dict[str, str] = {}
        plans = []
        for name in names:
            value = next((value for pattern, value in own if fnmatchcase(name, pattern)), None)
            if value is None and not rest:
                raise click.UsageError(f"--amplitude: none is said of {name}; leave it out by --supplies, or say one")
            if value is None and name in ws.supplies:
                unit_of.setdefault(ws.supplies[name].setpoint.unit, name)
            plans.append(replace(self.plan, amplitude=rest[0] if value is None else value))
        if len(unit_of) > 1:
            (unit, first), (other_unit, other) = list(unit_of.items())[:2]
            raise click.UsageError(
                f"--amplitude {rest[0]:g}: {first} is in {unit}, {other} in {other_unit}; say that of each, such as "
                f"--amplitude {other}={rest[0]:g}"
            )
        return plans


def _amplitudes(written: Sequence[str]) -> list[tuple[str, float]]:
    read = []
    for text in written:
        pattern, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value > 0):
            raise click.UsageError(
                f"--amplitude: found {text!r}, expected a number above 0, such as 0.05, or sr/rf=200 for some supplies"
            )
        read.append((pattern, value))
    if sum(not pattern for pattern, _ in read) > 1:
        raise click.UsageError(
            "--amplitude: more than one number stands alone; say whose the others are: SUPPLIES=VALUE"
        )
    return read


def _how(asked: Asked) -> str:
    """For the file's comment."""
    plan = asked.plan
    amplitudes = ", ".join(f"{pattern}={value:g}" if pattern else f"{value:g}" for pattern, value in asked.amplitudes)
    way = f"sine of {plan.hz:g} Hz" if plan.hz else "plus and minus"
    return f"{way}, amplitude {amplitudes}, {plan.averages} averages of {plan.seconds:g} s"


@contextmanager
def _bar(names: Sequence[str]) -> "Iterator[Progress]":
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("looking", total=len(names))
        yield lambda done, name: bar.update(task, completed=done, description=f"{name} ({done + 1} of {len(names)})")


def _by_hand(ws: "Workspace", asked: Asked, rf: str | None) -> "Response":
    """The operator's supplies, and all BPMs."""
    from ringmaster.feedback import by_hand, readings

    if asked.plan.hz > 0:
        raise click.UsageError("--sine: the feedback makes the sine, and none runs; leave it out for plus and minus")
    names, others = by_hand.choose(ws, asked.supplies)
    _check_rf(rf, names)
    chosen = readings.choose(ws, asked.readings, asked.rate)
    plans = asked.plans(ws, names)
    _left_out("supplies, which an application sets", others)
    _left_out(f"BPMs, whose records are not those of {chosen.rate!r}", chosen.left_out)
    least = sum(plan.least_s for plan in plans)
    words = f"{least:.0f} s" if least < 120 else f"{least / 60:.0f} min"
    click.echo(f"{len(names)} supplies, {len(chosen.rows)} readings ({chosen.rate}); {words} at least", err=True)
    try:
        with _bar(names) as progress:
            return by_hand.measure(ws, chosen.rows, names, plans, chosen.rate, progress)
    except KeyboardInterrupt:
        click.echo("interrupted; all supplies are back where they stood, and nothing was written", err=True)
        raise


def _check_rf(rf: str | None, columns: Sequence[str]) -> None:
    if rf is not None and rf not in columns:
        raise click.UsageError(f"--rf: {rf} is none of the {len(columns)} supplies of the matrix")


def _by_feedback(it: "Feedback", asked: Asked, rf: str | None) -> "tuple[Response, Any]":
    """Rows and columns of the matrix that it has, by its own excitation."""
    from ringmaster.feedback.golden import matching, rate_of
    from ringmaster.feedback.measured import measure

    if asked.readings:
        raise click.UsageError(f"--readings: {it.name} runs, and its matrix says which readings there are")
    before = it.need_matrix()
    _check_rf(rf, before.columns)
    numbers = matching(before.columns, asked.supplies) if asked.supplies else list(range(len(before.columns)))
    numbers = _movable(it.array("actuator_state"), before, numbers)
    names = [before.columns[i] for i in numbers]
    plans = asked.plans(it.ws, names)
    with _bar(names) as progress:
        rate = asked.rate or rate_of(it.ws, before.rows)
        return measure(it, before.rows, names, numbers, plans, rate, progress), before


def _movable(states: Any, before: "Matrix", numbers: Sequence[int]) -> list[int]:
    """Those that stand at no limit and answer, but for the RF; the others are named."""
    corrects = [i for i in numbers if before.columns[i] != before.rf]
    good = [i for i in corrects if states[i] == 0]
    if len(corrects) < len(numbers):
        click.echo(f"left out: {before.rf}, the RF: an excitation does not reach it", err=True)
    _left_out("supplies, which are out (`ringmaster feedback why`)", [before.columns[i] for i in corrects if states[i]])
    if not good:
        raise click.ClickException("no supply is left to measure")
    return good


def _left_out(what: str, names: Sequence[str]) -> None:
    if names:
        click.echo(f"left out: {len(names)} {what}: {_some(names)}", err=True)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _write(found: "Response", before: Any, rf: str | None, output: Path, errors: Path | None, about: str) -> None:
    import numpy as np

    from ringmaster.feedback.matrix import Matrix, save_csv

    made, spread = found.matrix, found.error
    if before is not None:
        numbers = [before.columns.index(name) for name in made.columns]
        values, spread = before.values.copy(), np.full(before.values.shape, np.nan)
        values[:, numbers], spread[:, numbers] = made.values, found.error
        made = Matrix(before.rows, before.columns, values, before.rf)
    if rf in made.columns:
        made = Matrix(made.rows, made.columns, made.values, rf)
    sizes = f"RMS of elements {_rms(found.matrix.values):.6g} nm per unit, of their standard errors {_error(found)}"
    save_csv(output, made, [about, sizes])
    if errors is not None:
        save_csv(errors, Matrix(made.rows, made.columns, np.nan_to_num(spread)), ["standard errors", about])


def _rms(values: Any) -> float:
    import numpy as np

    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(np.square(finite)))) if finite.size else float("nan")


def _error(found: "Response") -> str:
    error = _rms(found.error)
    return f"{error:.3g} nm per unit" if error == error else "not known: it takes two --averages"


def _tell(found: "Response", output: Path) -> None:
    """What was measured and how well; what was not is an error."""
    from ringmaster.feedback.by_hand import weak

    made = found.matrix
    _left_out("readings, of which nothing came at times", found.silent)
    click.echo(
        f"{output}: {len(made.columns)} supplies measured, {len(made.rows)} readings; RMS of elements "
        f"{_rms(made.values):.4g} nm per unit, standard error {_error(found)}; noise {found.noise_nm:.3g} nm"
    )
    if few := weak(found):
        click.echo(
            f"{_some(few)}: the response is below three standard errors; take a larger --amplitude, or more --averages",
            err=True,
        )
    for name, why in found.refused.items():
        click.echo(f"not measured: {name}: {why.removeprefix(f'{name}: ')}", err=True)
    if found.refused:
        raise click.ClickException(f"not in {output}: {_some(list(found.refused))}")
