# SPDX-License-Identifier: Apache-2.0
"""What the interval measurement has to say."""

from dataclasses import asdict

from ringmaster.bench.carried import Carried, common_words
from ringmaster.bench.interval_run import Measured, Options, Report
from ringmaster.bench.interval_tables import (
    Observed,
    averages_table,
    by_instrument,
    charts,
    headlines,
    singles_table,
)
from ringmaster.bench.intervals import of_caught
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Section
from ringmaster.report.verdicts import Headline

MEASURED = """\
Each instrument sends a datagram in every turn; the receiver stamps every datagram as it is taken from the link. The \
average of an instrument tells whether all of it comes at the rate that it was sent; single intervals tell how \
datagrams are gathered on their way: those that come in one burst are apart by what it takes to look at one."""


def section(report: Report) -> Section:
    """All of it."""
    options = report.options
    kinds = [kind for kind in report.kinds if kind.runs]
    observed = [Observed(kind.kind, kind.nominal_ns, [of_caught(run.received) for run in kind.runs]) for kind in kinds]
    return Section(
        name="interval",
        title="Inter-packet time",
        about=MEASURED,
        command=command(options),
        headlines=[row for one in observed for row in headlines(one)] + [_held(kind, options) for kind in kinds],
        tables=[averages_table(observed), singles_table(observed), *map(by_instrument, observed)],
        charts=charts(observed),
        conditions=report.conditions,
        notes=report.notes,
        interrupted=report.interrupted,
        data={
            "options": asdict(options),
            "cores": asdict(report.cores),
            "kinds": [
                {"kind": kind.kind, "rate_hz": kind.rate_hz, "runs": [_said(run) for run in kind.runs]}
                for kind in kinds
            ],
        },
    )


def _said(run: Carried) -> dict[str, object]:
    """Without the instruments' histograms, of which there are many; the chart has them together."""
    links = [
        {**link, "instruments": [{**one, "histogram": None} for one in link["instruments"]]}
        for link in run.received["links"]
    ]
    return {"sent": run.sent, "received": {**run.received, "links": links}}


def _held(kind: Measured, options: Options) -> Headline:
    rates = [run.received_pps / options.instruments for run in kind.runs]
    about = f"came of each; {kind.rate_hz:,.0f} were sent"
    return Headline(f"{kind.kind}.rate_hz", of_values(rates, "rounds"), "Hz", about=about)


def command(options: Options) -> str:
    """That makes these figures again."""
    return f"ringmaster bench interval {common_words(asdict(options))}"


def words(kind: Measured, run: Carried) -> str:
    """One run on one line."""
    means = [one.mean_ns for one in of_caught(run.received)]
    if not means:
        return "nothing came"
    lost, received = run.total("lost"), run.total("received")
    return (
        f"nominal {kind.nominal_ns:.6g} ns, averages {min(means):.6g}–{max(means):.6g} ns, "
        f"{lost:,} of {lost + received:,} lost"
    )
