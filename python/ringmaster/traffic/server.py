# SPDX-License-Identifier: Apache-2.0
"""A generator's server: one that runs, or one that is started for it and ends with it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ringmaster.fabric.commands import Commands
from ringmaster.fabric.workspace import attach
from ringmaster.programs.cores import cores as first_cores
from ringmaster.programs.program import Program, attach_to, commands_of
from ringmaster.programs.remains import release_workspace, scratch_folder
from ringmaster.traffic.configuration import PortSpec, configuration
from ringmaster.traffic.watch import GeneratorWatch


@contextmanager
def attached(name: str) -> Iterator[GeneratorWatch]:
    """The generator of a server that runs."""
    ws = attach(name)
    watch = GeneratorWatch(ws, Commands(ws.path))
    try:
        yield watch
    finally:
        watch.close()


@contextmanager
def started(config: Path, workspace: str) -> Iterator[tuple[GeneratorWatch, Program]]:
    """Starts a server by a configuration, and ends it on leaving."""
    with ExitStack() as stack:
        server = stack.enter_context(Program("ringmaster-server", "run", config))
        ws = attach_to(workspace, server)
        watch = GeneratorWatch(ws, commands_of(ws, server))
        stack.callback(watch.close)
        yield watch, server


@contextmanager
def made(
    ports: Sequence[PortSpec], cores: Sequence[int], longest_frame: int
) -> Iterator[tuple[GeneratorWatch, Program]]:
    """Starts a server by a configuration that is written for it; the workspace goes with it."""
    workspace = f"generate-{os.getpid()}"
    text = configuration(workspace, ports, cores or first_cores()[1:], longest_frame)
    with scratch_folder("generate") as folder:
        config = Path(folder) / "generate.yaml"
        config.write_text(text)
        try:
            with started(config, workspace) as both:
                yield both
        finally:
            release_workspace(workspace)
