# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench`: measure what this machine can do, each figure beside a peer.

The commands are made of the measurements of ringmaster.bench.benches, each when it is asked for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from inspect import getdoc
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ringmaster.bench.benches import BENCHES, Bench
from ringmaster.cli.bench_compare import compare
from ringmaster.cli.bench_output import ended_as_by_ctrl_c, give, report_option
from ringmaster.cli.bench_suite import suite
from ringmaster.cli.options import examples, json_option


class Benches(click.Group):
    """Knows what there is by its line, and makes the command of one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them."""
        return [*(bench.name for bench in BENCHES), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """One of them."""
        found = next((bench for bench in BENCHES if bench.name == name), None)
        return super().get_command(ctx, name) if found is None else command_of(found)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each."""
        rows = [(bench.name, bench.about) for bench in BENCHES]
        rows += [(name, command.get_short_help_str(limit=120)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=Benches,
    epilog=examples(
        "ringmaster bench suite --report out",
        "ringmaster bench ingest",
        "ringmaster bench compare monday.json tuesday.json",
        "ringmaster bench twin --json > twin.json",
    ),
)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure what this machine can do."""
    context.with_resource(ended_as_by_ctrl_c())


for command in (suite, compare):
    bench.add_command(command)


def command_of(chosen: Bench) -> click.Command:
    """Its options are those of the measurement, its help is the measurement's text."""
    from ringmaster.bench.options import click_option
    from ringmaster.report.verdicts import bar

    kind = chosen.load()
    shown = examples(*(f"ringmaster bench {chosen.name} {words}".strip() for words in kind.examples))

    def run(report: Path | None, as_json: bool, **given: Any) -> None:
        _refuse_needless(kind.options_type)
        with _told():
            asked = {name: value for name, value in given.items() if value is not None}
            measurement = kind(kind.options_type(**asked))
            with bar(chosen.name, kind.steps(measurement.options)) as (measurement.say, measurement.step):
                section = measurement.run()
            give(section, as_json, report)

    made = click.command(chosen.name, help=getdoc(kind), short_help=chosen.about, epilog=kind.meanings + shown)(run)
    for one in fields(kind.options_type):
        click_option(one)(made)
    return json_option(report_option(made))


@contextmanager
def _told() -> Iterator[None]:
    """What cannot be asked is wrong usage; what cannot be measured is said, exit code 1."""
    from ringmaster.bench.log import NotMeasured
    from ringmaster.bench.options import WrongOptions

    try:
        yield
    except WrongOptions as error:
        raise click.UsageError(str(error)) from error
    except NotMeasured as error:
        raise click.ClickException(str(error)) from error


def _refuse_needless(options_type: type[Any]) -> None:
    """Options that say nothing beside another one that was given."""
    from ringmaster.bench.options import flag_of

    context = click.get_current_context()
    flags = {one.name: flag_of(one) for one in fields(options_type)}
    given = [name for name in flags if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    for other in given:
        needless = [one.name for one in fields(options_type) if one.name in given and other in one.metadata["unless"]]
        if needless:
            listed = ", ".join(flags[name] for name in needless)
            raise click.UsageError(f"{listed}: found beside {flags[other]}, which leaves nothing for that to say")
