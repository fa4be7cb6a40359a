# SPDX-License-Identifier: Apache-2.0
"""What the commands of `ringmaster loco` share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ringmaster.twin import Lattice, Twin

Command = TypeVar("Command", bound=Callable[..., Any])

mapping_option = click.option(
    "--mapping", type=click.Path(path_type=Path), metavar="FILE", help="Which element is which reading and supply."
)
result_argument = click.argument("fit_file", metavar="FIT.h5", type=click.Path(path_type=Path))
flat_option = click.option("--4d", "flat", is_flag=True, help="Constant momentum: cavities and radiation off.")


class Width(click.ParamType[tuple[str, float]]):
    """PATTERN or PATTERN=WIDTH."""

    name = "PATTERN[=WIDTH]"

    def __init__(self, usual: float) -> None:
        self.usual = usual

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """The pattern and its width."""
        if isinstance(value, tuple):
            return value
        pattern, _, width = str(value).partition("=")
        try:
            found = float(width) if width else self.usual
        except ValueError:
            self.fail(f"{value!r}: {width!r} is no number; expected PATTERN or PATTERN=WIDTH", param, ctx)
        if not found > 0:
            self.fail(f"{value!r}: a width is greater than 0, or inf for none", param, ctx)
        return pattern, found


def twin_of(lattice: "Lattice", flat: bool) -> "Twin":
    """6D where it has cavities, unless told otherwise."""
    from ringmaster.twin import Twin

    twin = Twin(lattice)
    if flat:
        twin.disable_6d()
    elif len(lattice.get_cavities()) and not twin.is_6d:
        twin.enable_6d()
    return twin


@contextmanager
def fit_bar(iterations: int) -> Iterator[Callable[[str, int, float], None]]:
    """On standard error; is told what runs, the iteration and χ² per degree of freedom."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("fit", total=iterations)
        yield lambda what, done, chi2: bar.update(
            task, completed=done, description=f"{what}: χ² {chi2:.6g} per degree of freedom"
        )
