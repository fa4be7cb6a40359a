# SPDX-License-Identifier: Apache-2.0
"""A server and a virtual ring of one seed, started for a session and ended after it. The ring writes its truth; no step
reads it.
"""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ringmaster.commissioning.steps import MAPPING
from ringmaster.fabric.layout import SupplyState
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.from_twin import twin_matrix
from ringmaster.feedback.matrix import save_csv
from ringmaster.machine.mapping import read_mapping, resolve
from ringmaster.places import CONFIGS
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, ProgramFailed, attach_to
from ringmaster.programs.remains import release_workspace, scratch_folder
from ringmaster.twin import Twin, load_lattice

TRUTH = "truth.json"
START_S = 120.0
"""A busy host takes cores away for long."""


@dataclass(frozen=True)
class Ring:
    """A ring that we ship, as files of configs/."""

    server: str = "optics.yaml"
    overlay: str = "optics-ring.yaml"
    mapping: str = "mappings/optics.yaml"
    feedback: str = "feedback-optics.yaml"
    matrix: str = "optics-response.csv"
    """As the feedback's own file names it."""
    lattice: str = "elettra2_like"
    application: str = "feedback"
    """Whose loop is closed at the end."""


def prepare(ring: Ring, seed: int, folder: Path, workspace: str, socket: Path) -> tuple[Path, Path]:
    """Files of a server and a ring of this seed, in a folder: the server's and the overlay."""
    folder.mkdir(parents=True, exist_ok=True)
    ring_core, server_core = cores()
    shutil.copy(CONFIGS / ring.mapping, folder / MAPPING)
    shutil.copy(CONFIGS / ring.feedback, folder)
    _write_matrix(ring, folder / ring.matrix)
    server = _edited(CONFIGS / ring.server, {"core": str(server_core), "socket": str(socket), "workspace": workspace})
    overlay = re.sub(r"^(  seed: )\d+", rf"\g<1>{seed}", (CONFIGS / ring.overlay).read_text(), flags=re.MULTILINE)
    paths = folder / f"{workspace}.yaml", folder / f"{workspace}-ring.yaml"
    paths[0].write_text(
        server if re.search(r"^polling:", server, re.MULTILINE) else f"{server}\npolling: {{naps: true}}\n"
    )
    paths[1].write_text(re.sub(r"\bcore: \d+", f"core: {ring_core}", overlay))
    return paths


def _edited(path: Path, values: dict[str, str]) -> str:
    """A file with other values of these keys, wherever they stand."""
    text = path.read_text()
    for key, value in values.items():
        text = re.sub(rf"\b{key}: [^,}}\s]+", f"{key}: {value}", text)
    return text


def _write_matrix(ring: Ring, path: Path) -> None:
    """That of the design, which the feedback begins with."""
    lattice = load_lattice(ring.lattice)
    twin = Twin(lattice)
    twin.enable_6d()
    save_csv(path, twin_matrix(twin, resolve(lattice, read_mapping(CONFIGS / ring.feedback))))


class Machine:
    """A virtual ring that runs in lock-step with its server."""

    def __init__(self, sender: Program) -> None:
        self._sender = sender

    @contextmanager
    def standing(self) -> Iterator[None]:
        """In which its time stands still: it would go on as fast as it can, and take two cores from what computes."""
        os.kill(self._sender.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._sender.pid, signal.SIGCONT)


@contextmanager
def running(ring: Ring, seed: int, folder: Path, workspace: str) -> Iterator[Machine]:
    """Starts both, waits until all supplies have answered, and ends them on leaving. Raises ProgramFailed."""
    with ExitStack() as stack:
        links = Path(stack.enter_context(scratch_folder("demo")))
        server_file, overlay = prepare(ring, seed, folder, workspace, links / "ring.sock")
        stack.callback(release_workspace, workspace)
        server = stack.enter_context(Program("ringmaster-server", "run", server_file))
        attach_to(workspace, server).close()
        truth = folder / TRUTH
        sender = stack.enter_context(Program("ringmaster-instruments", "run", server_file, overlay, "--truth", truth))
        with attach_to(workspace, server, ("server", "ring")) as ws:
            _wait_until_joined(ws, (server, sender))
        try:
            yield Machine(sender)
        finally:
            server.check()
            sender.check()


def _wait_until_joined(ws: Workspace, programs: tuple[Program, ...]) -> None:
    """Until all supplies have answered and take setpoints."""
    give_up = monotonic() + START_S
    absent = SupplyState.LOST | SupplyState.JOINING
    while np.any(np.atleast_1d(np.asarray(ws.parameters["supply/state"].value)) & absent):
        for program in programs:
            program.check()
        if monotonic() > give_up:
            raise ProgramFailed(f"supplies have not answered within {START_S:.0f} s: {programs[0].words}")
        sleep(0.1)
