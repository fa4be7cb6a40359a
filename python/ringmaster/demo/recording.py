# SPDX-License-Identifier: Apache-2.0
"""What the demonstration records: an archive of some seconds, and every beam loss, for as long as the demo runs."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringmaster.machine.server_file import read_yaml
from ringmaster.programs.program import Program
from ringmaster.virtual.loop import GENTLY, LATTICE, Shipped

FILE = "record.yaml"
ARCHIVE = "archive"
MACHINE = "machine.yaml"
RECORDER = """# SPDX-License-Identifier: Apache-2.0
# What the demo records, and what it keeps of a beam loss.
workspace: {workspace}
directory: {directory}
quota: 600 MB
logs:
  - {{name: orbit, streams: ["bpm*/raw", "mps/raw"], quota: 500 MB}}
postmortem:
  quota: 2 GB
  machine: {machine}
  triggers:
    - {{name: interlock, kind: interlock, before: 200000 turns, after: 20000 turns, hold_off: 2 s}}
    - {{name: beam, kind: beam_loss, streams: "tbt01/*", before: 200000 turns, after: 20000 turns, hold_off: 2 s}}
    - {{name: server, kind: server, before: 200000 turns}}
"""


TURN_BY_TURN = {"bpms": "BPM_S01_0[12]", "rows": "tbt01/{x1,y1,x2,y2}"}
"""What is read every turn, beside what the feedback has."""


def write_settings(directory: Path, shipped: Shipped, archive: Path | None = None) -> Path:
    """The recorder's file, in ``directory``; the archive is there, too, unless it is to be elsewhere."""
    mapping = read_yaml(directory / shipped.feedback)["lattice"]
    machine = {"lattice": LATTICE, **mapping, "more_bpms": [TURN_BY_TURN]}
    (directory / MACHINE).write_text(json.dumps(machine, indent=1))
    names = {"workspace": shipped.workspace, "directory": archive or directory / ARCHIVE, "machine": MACHINE}
    path = directory / FILE
    path.write_text(RECORDER.format(**names))
    return path


@dataclass(frozen=True)
class Recording:
    """What runs beside the demo."""

    recorder: Program
    watch: Program

    @property
    def troubles(self) -> list[str]:
        """Of those that have ended by themselves: what they said last."""
        return [f"{one.name} has ended: {one.words}" for one in (self.recorder, self.watch) if not one.running]


@contextmanager
def recorded(directory: Path, shipped: Shipped, archive: Path | None = None) -> Iterator[Recording]:
    """Starts the recorder and the watch of the post-mortem beside a running server."""
    file = write_settings(directory, shipped, archive)
    with ExitStack() as stack:
        recorder = stack.enter_context(Program("ringmaster-record", "run", file, prefix=GENTLY))
        watch = ("-m", "ringmaster", "postmortem", "watch", file)
        yield Recording(recorder, stack.enter_context(Program(sys.executable, *watch, prefix=GENTLY)))
