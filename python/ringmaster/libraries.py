# SPDX-License-Identifier: Apache-2.0
"""Our C libraries: where they lie."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
"""Where this package lies in a checkout that was built; elsewhere there is no library below it."""


def find_library(name: str) -> str:
    """Path of a C library of ours: in $RINGMASTER_LIBEXEC, in the checkout's build; else its name, for the loader."""
    libexec = os.environ.get("RINGMASTER_LIBEXEC")
    places = [Path(libexec) / name] if libexec else []
    places += [path for below in ("*", "src/*") for path in sorted((CHECKOUT / "build").glob(f"{below}/{name}"))]
    return next((str(path) for path in places if path.exists()), name)
