# SPDX-License-Identifier: Apache-2.0
"""Prints the RMS over BPMs of a lane, averaged over the newest records, once a second."""

import argparse
import sys
from fnmatch import fnmatchcase
from time import sleep

import numpy as np

import ringmaster


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", nargs="?", help="name of the workspace [the only one there is]")
    parser.add_argument("--streams", default="bpm*/turn", metavar="PATTERN", help="streams to read [bpm*/turn]")
    parser.add_argument("--lane", default="x1", help="lane of each of them [x1]")
    parser.add_argument("--records", type=int, default=1000, metavar="N", help="records that are averaged [1000]")
    parser.add_argument("--prints", type=int, metavar="N", help="lines to print [until the server ends]")
    return parser.parse_args()


def find_bpms(ws: ringmaster.Workspace, asked: argparse.Namespace) -> list[ringmaster.Stream]:
    """The streams that are asked for, all with that lane; ends the program where there is none."""
    bpms = [stream for name, stream in ws.streams.items() if fnmatchcase(name, asked.streams)]
    if not bpms:
        sys.exit(f"no stream matches {asked.streams}; there are: {', '.join(ws.streams) or 'none'}")
    for bpm in bpms:
        lanes = [lane.name for lane in bpm.lanes]
        if asked.lane not in lanes:
            sys.exit(f"{bpm.name} has no lane {asked.lane}; it has: {', '.join(lanes)}")
    return bpms


def print_rms(ws: ringmaster.Workspace, asked: argparse.Namespace) -> None:
    """Prints until the server ends, or as often as asked."""
    bpms = find_bpms(ws, asked)
    unit = next(lane.unit for lane in bpms[0].lanes if lane.name == asked.lane)
    printed = 0
    while ws.alive and printed != asked.prints:
        turn = min(bpm.head or 0 for bpm in bpms)
        windows = [bpm.latest(min(asked.records, bpm.capacity // 2)) for bpm in bpms]
        orbit = [np.mean(window.values(asked.lane)[window.ok]) for window in windows if window.ok.any()]
        rms = np.sqrt(np.mean(np.square(orbit))) if orbit else np.nan
        print(f"turn {turn}: {rms:.1f} {unit} RMS", flush=True)
        printed += 1
        sleep(1)


if __name__ == "__main__":
    try:
        request = options()
        with ringmaster.attach(request.workspace) as workspace:
            print_rms(workspace, request)
    except ringmaster.WorkspaceError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass
