# SPDX-License-Identifier: Apache-2.0
"""How many threads NumPy's linear algebra has."""

import os

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def keep_to_one_thread() -> None:
    """Call it before NumPy is imported. More threads spin while they wait for each other, on cores that others need."""
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
