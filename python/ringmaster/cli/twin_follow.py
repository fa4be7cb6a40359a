# SPDX-License-Identifier: Apache-2.0
"""`ringmaster twin follow`: models beside the running machine."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, workspace_option

if TYPE_CHECKING:
    from ringmaster.twins.instance import Instance


@click.command(
    "follow",
    epilog=examples(
        "ringmaster twin follow elettra2_like --as model --map mapping.yaml",
        "ringmaster twin follow elettra2_like --as weaker --map mapping.yaml --set QF1_S01_01=-0.01 --hz 100",
        "ringmaster twin follow configs/twins/optics.yaml",
        "ringmaster twin follow configs/twins/optics.yaml --only corrected",
        "ringmaster monitor 'model/rms_*' 'weaker/rms_*' model/state",
        "ringmaster put model/zero 1",
        "ringmaster spectrum model/ring/tune_x",
    ),
)
@click.argument("lattice", type=click.Path(), metavar="LATTICE|TWINS.yaml")
@click.option("--as", "name", metavar="NAME", help="Whose parameters are NAME/residual_x and so on.")
@click.option(
    "--map",
    "--mapping",
    "mapping",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Which element is which BPM reading and supply: as `ringmaster feedback matrix twin` has it.",
)
@click.option("--only", metavar="NAME", help="Of a file of instances this one alone, in this process.")
@click.option("--set", "changes", multiple=True, metavar="ELEMENT=±SHARE", help="Its gradient, relative; .dx in m.")
@click.option("--source", type=click.Choice(["setpoint", "readback"]), default="setpoint", show_default=True)
@click.option("--rate", metavar="RATE", help="Of the BPM streams; without it fast, or what there is.")
@click.option("--hz", type=click.FloatRange(0.1, 1000), default=10.0, show_default=True, help="Updates per second.")
@click.option("--relative", is_flag=True, help="Take the first residual as zero: what changes from then on is shown.")
@click.option("--core", type=int, metavar="CORE", help="Where it runs.")
@click.option("--seconds", type=float, metavar="S", help="Follow for so long; without it until Ctrl-C.")
@click.option("--4d", "flat", is_flag=True, help="Cavities and radiation off: no beam sizes and emittances.")
@workspace_option
def follow(
    lattice: str,
    name: str | None,
    mapping: Path | None,
    only: str | None,
    changes: tuple[str, ...],
    source: str,
    rate: str | None,
    hz: float,
    relative: bool,
    core: int | None,
    seconds: float | None,
    flat: bool,
    workspace: str | None,
) -> None:
    """Follow the running machine with a model, or with all of a file: publish its optics, beam, and prediction errors.

    Reads the supplies' setpoints (or readbacks) and the BPM streams, and nothing else; publishes the model's orbit, β,
    tunes, chromaticities, dispersion, beam sizes and emittances, and machine − model as NAME/residual_x and
    NAME/residual_y (µm), stamped with the turn of the machine that they are of. It can set no supply. Of a file each
    instance is a process, and may have feedbacks of its own and supplies that are not ideal.
    """
    from ringmaster.programs.threads import keep_to_one_thread

    keep_to_one_thread()
    if Path(lattice).suffix in (".yaml", ".yml"):
        _of_file(Path(lattice), only, seconds, workspace)
        return
    if name is None or mapping is None:
        missing = "--as NAME" if name is None else "--map FILE"
        raise click.UsageError(f"{missing} is missing: of a lattice say what it is called, and which element is what")
    from ringmaster.twins.instance import Instance, with_lattice

    instance = Instance(
        name=name,
        lattice=lattice,
        mapping=str(mapping),
        changes=changes,
        source=source,
        rate=rate,
        hz=hz,
        core=core,
        flat=flat,
        relative=relative,
    )
    _follow(with_lattice(instance, Path.cwd()), seconds, workspace)


def _of_file(file: Path, only: str | None, seconds: float | None, workspace: str | None) -> None:
    from ringmaster.cli.signals import end_asked
    from ringmaster.fabric.workspace import attach
    from ringmaster.twins.following import until
    from ringmaster.twins.instance import chosen_of, read_instances
    from ringmaster.twins.processes import command_of, run_all

    instances = chosen_of(read_instances(file), only)
    if only is not None:
        _follow(instances[0], seconds, workspace)
        return
    with attach(workspace) as ws:
        path = str(ws.path)
    over = until(seconds)
    with end_asked() as asked:
        ended = run_all(
            {it.name: command_of(file, it.name, path) for it in instances},
            lambda: asked.is_set() or over(),
            click.echo,
        )
    if ended:
        raise click.ClickException(
            f"ended by themselves: {', '.join(f'{name} (status {status})' for name, status in ended.items())}"
        )


def _follow(instance: "Instance", seconds: float | None, workspace: str | None) -> None:
    from ringmaster.cli.signals import end_asked
    from ringmaster.fabric.workspace import attach
    from ringmaster.twins.following import Following, until
    from ringmaster.twins.machine import names_of
    from ringmaster.twins.model import Model

    with attach(workspace) as ws:
        model = Model(instance, *names_of(ws))
        following = Following(ws, model, click.echo)
        mapping = model.mapping
        words = "; ".join([f"lattice {model.twin.lattice.name}", *model.words, f"{instance.source}s"])
        click.echo(
            f"{instance.name} follows {ws.name}: {len(mapping.bpms)} BPMs, {len(mapping.supplies)} supplies, {words}"
        )
        over = until(seconds)
        with end_asked() as asked:
            following.run(lambda: asked.is_set() or over())
