# SPDX-License-Identifier: Apache-2.0
"""Owns the parameters of an orbit bump, whose current goes to where it is asked to, until Ctrl-C."""

import argparse
import sys
from functools import partial

import ringmaster
from ringmaster import Limits

STEP_S = 0.1

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("workspace", nargs="?", help="name of the workspace [the only one there is]")
try:
    owner = ringmaster.Owner("bump", parser.parse_args().workspace)
except ringmaster.WorkspaceError as error:
    sys.exit(str(error))
settings = owner.group("bump/settings", "what one may choose")
limits = Limits(
    control_low=-10, control_high=10, minor_low=-8, minor_high=8, major_low=-9, major_high=9, hysteresis=0.5
)
kick = ("µrad", [0, 12.5])
choice = partial(owner.parameter, writable=True, setting=True, group=settings)
current = choice("bump/current", 2.0, "A", "where it shall go", limits=limits, conversion=kick)
rate = choice("bump/rate", 5.0, "A/s", "how fast", limits=Limits(control_low=0, control_high=50))
actual = owner.parameter("bump/actual", 0.0, "A", "where it is", limits=limits, conversion=kick)


def judge(request: ringmaster.Request) -> str | None:
    """Refuses another rate while the bump is on its way."""
    moving = actual.number != current.number
    return "not while the bump moves" if request.parameter == rate.name and moving else None


try:
    with owner:
        while True:
            owner.serve(timeout=STEP_S, judge=judge)
            left, most = current.number - actual.number, rate.number * STEP_S
            if left:
                actual.value = actual.number + max(-most, min(most, left))
except ringmaster.OwnerBusy as error:
    sys.exit(str(error))
except KeyboardInterrupt:
    pass
