# SPDX-License-Identifier: Apache-2.0
"""Where our parts lie: C programs and libraries, and the shipped configurations."""

import os
import shutil
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
"""Where this package lies in a checkout that was built; elsewhere there is no library below it."""
INSTALLED = CHECKOUT.resolve().parent.parent / "libexec/ringmaster"
"""Where programs and libraries lie beside share/ringmaster, which this package is below where it is installed."""
IN_WHEEL = Path(__file__).parent / "lib"
"""Where libraries lie in a wheel for readers."""
CONFIGS = Path(__file__).resolve().parents[2] / "configs"


class ProgramNotFound(FileNotFoundError):
    """A program of ours is not where it should be."""


def find_program(name: str) -> str:
    """Path of a C program of ours, in $RINGMASTER_LIBEXEC or, without that, on the PATH."""
    libexec = os.environ.get("RINGMASTER_LIBEXEC")
    path = shutil.which(name, path=libexec) if libexec else shutil.which(name)
    if path is None:
        where = f"$RINGMASTER_LIBEXEC ({libexec})" if libexec else "the PATH"
        raise ProgramNotFound(f"{name} is not in {where}; build it with `make build`, or set $RINGMASTER_LIBEXEC")
    return path


def find_library(name: str) -> str:
    """Path of a C library of ours: in $RINGMASTER_LIBEXEC, beside or in the installed package, in the checkout's build.

    Else its name, for the loader.
    """
    libexec = os.environ.get("RINGMASTER_LIBEXEC")
    places = [Path(libexec) / name] if libexec else []
    places += [INSTALLED / name, IN_WHEEL / name]
    places += [path for below in ("*", "src/*") for path in sorted((CHECKOUT / "build").glob(f"{below}/{name}"))]
    return next((str(path) for path in places if path.exists()), name)
