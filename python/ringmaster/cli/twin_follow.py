# SPDX-License-Identifier: Apache-2.0
"""`ringmaster twin follow`: a model beside the running machine."""

from pathlib import Path

import click

from ringmaster.cli.options import examples, workspace_option


@click.command(
    "follow",
    epilog=examples(
        "ringmaster twin follow elettra2_like --as model --map mapping.yaml",
        "ringmaster twin follow elettra2_like --as weaker --map mapping.yaml --set QF1_S01_01=-0.01",
        "ringmaster monitor 'model/rms_*' 'weaker/rms_*'",
        "ringmaster put model/zero 1",
    ),
)
@click.argument("lattice", type=click.Path())
@click.option("--as", "name", required=True, metavar="NAME", help="Whose parameters are NAME/residual_x and so on.")
@click.option(
    "--map",
    "--mapping",
    "mapping",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Which element is which BPM reading and actuator: as `ringmaster feedback matrix twin` has it.",
)
@click.option("--set", "changes", multiple=True, metavar="ELEMENT=±SHARE", help="Its gradient, relative; .dx in m.")
@click.option("--source", type=click.Choice(["setpoint", "readback"]), default="setpoint", show_default=True)
@click.option("--rate", metavar="RATE", help="Of the BPM streams; without it fast, or what there is.")
@click.option("--hz", type=click.FloatRange(0.1, 50), default=10.0, show_default=True, help="Comparisons per second.")
@click.option("--relative", is_flag=True, help="Take the first residual as zero: what changes from then on is shown.")
@click.option("--seconds", type=float, metavar="S", help="Follow for so long; without it until Ctrl-C.")
@click.option("--4d", "flat", is_flag=True, help="Cavities and radiation off.")
@workspace_option
def follow(
    lattice: str,
    name: str,
    mapping: Path,
    changes: tuple[str, ...],
    source: str,
    rate: str | None,
    hz: float,
    relative: bool,
    seconds: float | None,
    flat: bool,
    workspace: str | None,
) -> None:
    """Follow the running machine with a model: tell what of its orbit LATTICE does not explain.

    Reads the supplies' setpoints (or readbacks) and the BPM streams, and nothing else; computes the closed orbit, and
    tells machine − model as NAME/residual_x and NAME/residual_y (µm), their RMS, and what was used. It can set no
    supply. Several may follow at once, with other lattices or changes.
    """
    from ringmaster.fabric.workspace import SUPPLY_NAMES, attach
    from ringmaster.feedback.following_twin import Follower, change, follow
    from ringmaster.feedback.golden import rate_of
    from ringmaster.machine.mapping import read_mapping, resolve
    from ringmaster.machine.server_file import names_of_server, of_workspace
    from ringmaster.twin import Twin, load_lattice

    twin = Twin(load_lattice(lattice))
    if flat or not len(twin.lattice.get_cavities()):
        twin.disable_6d()
    else:
        twin.enable_6d()
    words = [f"lattice {twin.lattice.name}", *(change(twin, text) for text in changes), f"{source}s"]
    with attach(workspace) as ws:
        known = ws.texts[SUPPLY_NAMES].split() if SUPPLY_NAMES in ws.texts else []
        rows = names_of_server(of_workspace(ws))[0] if "instruments" in of_workspace(ws) else []
        found = resolve(twin.lattice, read_mapping(mapping), rows, known)
        follower = Follower(ws, twin, found, source, rate or rate_of(ws, found.rows))
        click.echo(
            f"{name} follows {ws.name}: {len(found.bpms)} BPMs, {len(found.actuators)} actuators, {'; '.join(words)}"
        )
        try:
            follow(follower, name, words, hz, seconds, relative)
        except KeyboardInterrupt:
            return
