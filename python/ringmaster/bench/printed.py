# SPDX-License-Identifier: Apache-2.0
"""What a program of the bench prints."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ringmaster.bench.log import NotMeasured

T = TypeVar("T")


@dataclass(frozen=True)
class Times:
    """What something took, often, as our C programs print it: nanoseconds, or what its name says."""

    median: float
    low: float
    """Between low and high are all but the outermost tenths; of ringmaster-measure the middle half."""
    high: float
    p99: float
    max: float
    count: int


def printed(
    what: str,
    command: Sequence[str],
    limit_s: float,
    given: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Runs it to its end. ``given`` is its standard input; ``environment`` is beside our own.

    Raises NotMeasured where it fails, with the last line of its standard error, or takes longer; ``what`` begins it.
    """
    try:
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
            env={**os.environ, **(environment or {})},
        )
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"{what}: did not end in {limit_s:.0f} s") from error
    if done.returncode != 0:
        raise NotMeasured(f"{what}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return done.stdout


def figures(program: str, words: str, read: Callable[[Any], T]) -> T:
    """What is read from the JSON that it printed. Raises NotMeasured where that is none of its kind."""
    try:
        return read(json.loads(words))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotMeasured(f"{program} printed no figures: {error!r}") from error
