# SPDX-License-Identifier: Apache-2.0
"""`ringmaster feedback predict`, `sensitivity`, `spectrum`: what the loop ought to do, and what it does."""

from pathlib import Path
from typing import Any

import click

from ringmaster.cli.feedback_options import a_feedback, attached
from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot


@click.command(
    epilog=examples(
        "ringmaster feedback predict configs/feedback-elettra2.yaml",
        "ringmaster feedback predict feedback.yaml --server server.yaml",
        "ringmaster feedback predict feedback.yaml --rate 100000 --plot s.png",
        "ringmaster feedback predict feedback.yaml --delay 1.1 --bandwidth 0.9",
    )
)
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="HZ", help="Of cycles; else as the server's.")
@click.option("--server", type=click.Path(path_type=Path), metavar="SERVER", help="Its server's configuration.")
@click.option("--gain", type=float, default=1.0, show_default=True, help="Of the whole loop.")
@click.option("--delay", type=float, default=1.0, show_default=True, help="The plant's delay over the configured one.")
@click.option("--bandwidth", type=float, default=1.0, show_default=True, help="Its bandwidth over the configured one.")
@plot_option
@json_option
def predict(
    config: Path,
    rate: float | None,
    server: Path | None,
    gain: float,
    delay: float,
    bandwidth: float,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Predict what the loop of CONFIG (the feedback's own file) will do, without any server.

    The rate of its cycles is turn_rate_hz over period_turns of its server's configuration: --server, or the one in the
    same folder that names CONFIG.

    For each family with a law of its own: up to which frequency it reduces disturbances, by how much it raises them
    where it does worst, how far from instability it is, and how deep its lines are.
    """
    from dataclasses import replace

    from ringmaster.feedback.configuration import read_configuration
    from ringmaster.feedback.predict import draw, predict
    from ringmaster.machine.server_file import cycle_rate_hz

    rate = rate or cycle_rate_hz(config, server)
    read = read_configuration(config, rate)
    made = []
    for family in read.families:
        if family.tuning is None:
            continue
        designed = family.plant
        plant = replace(
            designed,
            delay_s=designed.delay_s * delay,
            bandwidth_hz=designed.bandwidth_hz * bandwidth,
            second_hz=designed.second_hz * bandwidth,
        )
        made.append(predict(family, plant, gain))
    if plot is not None:
        draw(made, plot)
    if as_json:
        print_json({one.family: one.as_json() for one in made})
        return
    for one in made:
        click.echo(f"{one.family}, at {rate:.6g} cycles per second:")
        if not one.stable:
            click.echo(click.style("  UNSTABLE", fg="red"))
        click.echo(f"  reduces disturbances (−3 dB) up to {one.bandwidth_hz:.0f} Hz")
        click.echo(f"  raises them at most {one.peak:.3f} times, at {one.peak_hz:.0f} Hz")
        click.echo(
            f"  margins: gain × {one.gain_margin:.2f}, phase {one.phase_margin_deg:.0f}°, "
            f"delay {one.delay_margin_us:.0f} µs"
        )
        for hz, (at, near) in one.lines_db.items():
            click.echo(f"  {hz:g} Hz: {at:.1f} dB, within ± 0.1 %: {near:.1f} dB")
    print_plot(plot)


@click.command(
    epilog=examples(
        "ringmaster feedback sensitivity --plot s.png",
        "ringmaster feedback sensitivity --mode 3 --amplitude 2um --seconds 20 --json",
        "ringmaster feedback sensitivity --actuator ps/cfx_07 --amplitude 0.01",
    )
)
@click.option(
    "--mode", type=click.IntRange(0), default=0, show_default=True, help="Number, as in the reading singular."
)
@click.option("--actuator", metavar="NAME", help="Excite this actuator instead of a mode.")
@click.option(
    "--amplitude", metavar="VALUE", default="1um", show_default=True, help="Of a mode as 1um; or in its unit."
)
@click.option("--signal", type=click.Choice(["multi-sine", "prbs", "sine"]), default="multi-sine", show_default=True)
@click.option("--low", type=float, default=10.0, show_default=True, metavar="HZ", help="Lowest frequency.")
@click.option("--high", type=float, metavar="HZ", help="Highest; without it 0.45 of the cycles' rate.")
@click.option("--seconds", type=float, default=10.0, show_default=True, help="Of data.")
@click.option("--family", metavar="NAME", help="Whose law it is; without it the first that has one.")
@plot_option
@a_feedback
@json_option
def sensitivity(
    mode: int,
    actuator: str | None,
    amplitude: str,
    signal: str,
    low: float,
    high: float | None,
    seconds: float,
    family: str | None,
    plot: Path | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Measure the sensitivity S(f) of the running loop, and lay it over the prediction.

    Excites a mode's error (or an actuator) while the loop runs, records what comes of it, and divides. The prediction
    is of the feedback's own file. The excitation ends with the command, however that ends.
    """
    from ringmaster.feedback.configuration import read_configuration
    from ringmaster.feedback.golden import matching
    from ringmaster.feedback.law import Law
    from ringmaster.feedback.names import State
    from ringmaster.feedback.sensitivity import (
        SETTLE_S,
        SIGNALS,
        compare,
        draw,
        estimate,
        excited,
        plant_found,
        record,
        refuse_too_few_seconds,
        refuse_what_is_not_s,
        signal_lines,
    )
    from ringmaster.feedback.solution import mode_gain

    with attached(**where) as it:
        if it.state != State.ON:
            raise click.ClickException(f"the loop is {it.state.name}, not ON: `ringmaster feedback why` says why")
        if it.configuration_path is None:
            it.need_matrix()  # says how to name it
        assert it.configuration_path is not None
        stream = it.ws.streams[f"{it.name}/orbit"]
        rate = it.ws.parameters["server/turn_rate_hz"].number / stream.period
        high = 0.45 * rate if high is None else high
        refuse_too_few_seconds(seconds, signal_lines(signal, low, high))
        law, title = _law(read_configuration(it.configuration_path, rate), it, family, actuator)
        number = mode if actuator is None else matching(it.need_matrix().columns, [actuator])[0]
        regular = 1.0 if actuator is not None else mode_gain(it.array("singular"), mode, it.number("tikhonov"))
        size = _amplitude(amplitude, actuator is None)
        from time import sleep

        with excited(it, SIGNALS[signal], actuator is not None, number, size, low, high), _bar(as_json) as progress:
            sleep(SETTLE_S)
            taken = record(it, seconds, progress)
        gain = it.number("gain") or 1.0
    assert isinstance(law, Law)
    refuse_what_is_not_s(taken)
    measured = estimate(taken, signal_lines(signal, low, high), actuator is not None)
    found = compare(measured, law, gain * regular)
    what = f"mode {mode}" if actuator is None else actuator
    if plot is not None:
        draw(found, law, gain * regular, f"{title}: {what}, {signal}, {seconds:g} s", plot)
    plant = plant_found(measured.seen, law, gain * regular)
    said = (
        found.as_json()
        | {"plant_gain": plant[0], "plant_extra_delay_us": plant[1]}
        | {"excited": what, "lost": taken.lost, "not_on": taken.not_on, "rate_hz": taken.rate_hz}
    )
    if as_json:
        print_json(said)
        return
    click.echo(f"{title}, {what}: {len(found.measured.hz)} frequencies by {said['method']}, {taken.lost} cycles lost")
    if taken.not_on:
        share = 100 * taken.not_on / len(taken.error)
        click.echo(f"The loop was not ON in {share:.2g} % of the cycles: this is not its sensitivity.", err=True)
    if hidden := said["hidden_hz"]:
        click.echo(
            f"left out, as other motion hides them: {len(hidden)} between {hidden[0]:.0f} and {hidden[-1]:.0f} Hz; a "
            f"larger --amplitude, or more --seconds, shows them",
            err=True,
        )
    click.echo(f"peak |S| {said['peak']:.3f} at {said['peak_hz']:.0f} Hz")
    click.echo(
        f"measured − predicted: at most {said['largest_deviation']:.4f} at {said['largest_deviation_hz']:.0f} Hz, "
        f"RMS {said['rms_deviation']:.4f}"
    )
    click.echo(f"the plant, over the configured one: gain × {plant[0]:.3f}, delay {plant[1]:+.0f} µs")
    print_plot(plot)


def _law(read: Any, it: Any, family: str | None, actuator: str | None) -> tuple[Any, str]:
    """The law that is to be seen, and whose it is; resonators only where they are on."""
    from ringmaster.feedback.law import Law

    owner = None if actuator is None else read.family_of(actuator)
    chosen = read.family(family or (owner.name if owner is not None else None))
    law = Law(chosen.plant, chosen.tuning)
    if it.number("resonators") == 0:
        law = law.without_resonators()
    return law, f"family {chosen.name}"


def _amplitude(text: str, is_mode: bool) -> float:
    from ringmaster.feedback.names import LENGTHS

    for unit in sorted(LENGTHS, key=len, reverse=True):
        if is_mode and text.endswith(unit):
            return float(text.removesuffix(unit)) * LENGTHS[unit]
    try:
        return float(text)
    except ValueError:
        expected = "a length, as 1um" if is_mode else "a number in the actuator's unit"
        raise click.UsageError(f"--amplitude: found {text!r}, expected {expected}") from None


def _bar(quiet: bool) -> Any:
    """A progress bar as a context that gives what moves it."""
    from contextlib import contextmanager

    @contextmanager
    def shown() -> Any:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar:
            task = bar.add_task("recording", total=1.0)
            yield lambda share: bar.update(task, completed=share)

    return shown()


@click.command(
    epilog=examples(
        "ringmaster feedback spectrum --both --lattice elettra2_like --plot before-after.png",
        "ringmaster feedback spectrum --size-x 50 --size-y 6 --seconds 5",
    )
)
@click.option("--both", is_flag=True, help="Switch the loop off, take one; switch it on, take another.")
@click.option("--seconds", type=float, show_default="4, or what the streams hold", help="Of data.")
@click.option("--lattice", type=click.Path(), metavar="LATTICE", help="Beam sizes are the twin's of this lattice.")
@click.option("--bpms", default="*BPM*", show_default=True, metavar="PATTERN", help="Elements of it that are BPMs.")
@click.option("--size-x", type=float, metavar="UM", help="Horizontal beam size, RMS.")
@click.option("--size-y", type=float, metavar="UM", help="Vertical.")
@click.option("--rate", metavar="RATE", help="Of the streams; without it fast, or what there is.")
@plot_option
@a_feedback
@json_option
def spectrum(
    both: bool,
    seconds: float | None,
    lattice: str | None,
    bpms: str,
    size_x: float | None,
    size_y: float | None,
    rate: str | None,
    plot: Path | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Take the spectrum of the orbit and its cumulated RMS, and compare that with a tenth of the beam's size."""
    from ringmaster.feedback.golden import rate_of
    from ringmaster.feedback.spectrum import SHARE, beam_sizes_um, capture, draw, spectra, switched

    sizes = dict(zip("xy", beam_sizes_um(lattice, bpms), strict=True)) if lattice is not None else {}
    sizes |= {plane: size for plane, size in (("x", size_x), ("y", size_y)) if size is not None}
    limits = {plane: SHARE * size for plane, size in sizes.items()}
    with attached(**where) as it:
        rows = it.need_matrix().rows
        rate = rate or rate_of(it.ws, rows)
        made = []
        if both:
            with switched(it) as switch:
                for loop, label in ((0, "off"), (1, "on")):
                    switch(loop)
                    made += spectra(*capture(it.ws, rows, rate, seconds), label)
        else:
            made = spectra(*capture(it.ws, rows, rate, seconds), it.state.name.lower())
    if plot is not None:
        draw(made, limits, plot)
    if as_json:
        print_json({"limits_um": limits, "spectra": [one.as_json() for one in made]})
        return
    for one in made:
        limit = f", a tenth of the beam is {limits[one.plane]:.3g} µm" if one.plane in limits else ""
        said = one.as_json()
        upto = ", ".join(f"{um:.3g} µm up to {hz} Hz" for hz, um in said["rms_um_up_to_hz"].items())
        click.echo(f"{one.plane}, {one.label}: {said['rms_um']:.3g} µm RMS ({upto}){limit}")
    for plane in sorted({one.plane for one in made}):
        ends = [one.cumulated_um[-1] for one in made if one.plane == plane]
        if len(ends) == 2:
            import math

            click.echo(f"{plane}: {20 * math.log10(ends[1] / ends[0]):.1f} dB by the loop")
    print_plot(plot)
