# SPDX-License-Identifier: Apache-2.0
"""`ringmaster flags`: what a C compiler has to be told to build a program or an application of one's own."""

from pathlib import Path

import click

from ringmaster.cli.options import examples


def _include() -> Path:
    """The folder of the public headers: of a checkout, or of what `make install` made."""
    from ringmaster.places import CHECKOUT

    places = (CHECKOUT / "include", CHECKOUT.parents[1] / "include")
    found = next((place for place in places if (place / "ringmaster/abi.h").exists()), None)
    if found is None:
        where = " and ".join(str(place) for place in places)
        raise click.ClickException(f"no headers in {where}; install them with `make install`")
    return found


def _folder(library: str) -> Path:
    """The folder of a library of ours."""
    from ringmaster.places import find_library

    found = Path(find_library(library))
    if not found.exists():
        raise click.ClickException(f"{library} is not there; `make build` makes it, `make install` installs it")
    return found.resolve().parent


@click.command(
    epilog=examples(
        "cc my_program.c $(ringmaster flags --libs) -o my_program",
        "cc -shared -fPIC my_application.c $(ringmaster flags --libs) -o my_application.so",
    )
)
@click.option("--libs", is_flag=True, help="Those for the linker, too.")
def flags(libs: bool) -> None:
    """Print what a C compiler needs to find Ringmaster's headers and libraries, as pkg-config does."""
    words = [f"-I{_include()}"]
    if libs:
        names = ("ringmaster-support", "ringmaster")
        for folder in dict.fromkeys(_folder(f"lib{name}.so") for name in names):
            words += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
        words += ["-Wl,--as-needed", *(f"-l{name}" for name in names), "-lm"]
    click.echo(" ".join(words))
