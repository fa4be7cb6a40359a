# SPDX-License-Identifier: Apache-2.0
"""`ringmaster feedback matrix`: the response matrix, from the twin, from others' files, from the machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ringmaster.cli.feedback_matrix_measure import measure
from ringmaster.cli.feedback_options import output_option, rf_option
from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot


@click.group(
    epilog=examples(
        "ringmaster feedback matrix twin elettra2_like --map mapping.yaml -o response.csv",
        "ringmaster feedback matrix convert GoldenBPMResp.mat -o response.csv",
        "ringmaster feedback matrix measure --amplitude 0.05 -o measured.csv",
        "ringmaster feedback matrix show response.csv measured.csv --plot matrices.png",
    ),
    no_args_is_help=True,
)
def matrix() -> None:
    """Make a response matrix, convert one, measure it, look at it."""


def _file_of_names(text: str | None) -> tuple[str, ...]:
    """Names written out, with ranges, or one in a line of a file."""
    from ringmaster.machine.mapping import names_of

    if text is None:
        return ()
    if Path(text).is_file():
        lines = Path(text).read_text(encoding="utf-8").splitlines()
        return names_of([line.strip() for line in lines if line.strip() and not line.startswith("#")])
    return names_of(text.split())


MAPPING = """\b
A mapping:
  bpms: "BPM_*"
  rows: "bpm[01-84]/{x1,y1,x2,y2}"
  correctors:
    - {elements: "CF_*", plane: x, actuators: "ps/cfx_[01-72]", urad_per_unit: 10}
  rf: {actuator: rf/frequency, hz_per_unit: 1}

"""


@matrix.command(
    epilog=MAPPING
    + examples(
        "ringmaster feedback matrix twin elettra2_like --map mapping.yaml -o response.csv",
        "ringmaster feedback matrix twin elettra2_like --server configs/feedback.yaml --map mapping.yaml "
        "-o response.csv",
        "ringmaster feedback matrix twin ring.mat --bpms 'BPM_*' --rows 'bpm[01-84]/{x1,y1,x2,y2}' "
        "--corrector 'CF_*:x:ps/cfx_[01-72]:10' --corrector 'CF_*:y:ps/cfy_[01-72]:10' -o response.csv",
    )
)
@click.argument("lattice", type=click.Path())
@click.option(
    "--map",
    "--mapping",
    "mapping",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="All of the following, in a file.",
)
@click.option("--bpms", metavar="PATTERN", help="Elements of the lattice that are BPMs.")
@click.option("--rows", metavar="NAMES", help="Their readings, x and y of the first, x and y of the second, …")
@click.option(
    "--corrector",
    "--correctors",
    "correctors",
    multiple=True,
    metavar="ELEMENTS:PLANE:ACTUATORS[:URAD]",
    help="Correctors: elements, x or y, their actuators, µrad per unit (1). May be repeated.",
)
@click.option("--rf", metavar="ACTUATOR[:HZ]", help="Actuator of the RF frequency, Hz per unit (1).")
@click.option("--server", type=click.Path(path_type=Path), metavar="CONFIG", help="Whose names patterns with * mean.")
@click.option("--4d", "flat", is_flag=True, help="Cavities and radiation off.")
@output_option
def twin(
    lattice: str,
    mapping: Path | None,
    bpms: str | None,
    rows: str | None,
    correctors: tuple[str, ...],
    rf: str | None,
    server: Path | None,
    flat: bool,
    output: Path,
) -> None:
    """Compute the response matrix of LATTICE as designed: a file, or elettra2_like.

    A mapping says which element is which BPM reading and which actuator. The feedback's own file with a key `lattice`
    will do, too.
    """
    from ringmaster.feedback.from_twin import twin_matrix
    from ringmaster.feedback.matrix import save_csv
    from ringmaster.machine.mapping import corrector_of, read_mapping, resolve
    from ringmaster.machine.server_file import names_of_server, read_yaml
    from ringmaster.twin import Twin, load_lattice

    given = {} if mapping is None else read_mapping(mapping)
    given |= {key: value for key, value in (("bpms", bpms), ("rows", rows)) if value is not None}
    if correctors:
        given["correctors"] = [corrector_of(text) for text in correctors]
    if rf is not None:
        name, _, hz = rf.partition(":")
        given["rf"] = {"actuator": name, "hz_per_unit": float(hz or 1)}
    known_rows, known = ((), ()) if server is None else names_of_server(read_yaml(server))
    machine = Twin(load_lattice(lattice))
    if flat or not len(machine.lattice.get_cavities()):
        machine.disable_6d()
    else:
        machine.enable_6d()
    found = resolve(machine.lattice, given, known_rows, known)
    if not found.actuators:
        raise click.UsageError("no correctors: name them by --map or --corrector")
    made = twin_matrix(machine, found)
    motion = "6D" if machine.is_6d else "4D"
    save_csv(output, made, [f"of lattice {machine.lattice.name}, {motion}, by ringmaster feedback matrix twin"])
    click.echo(
        f"{output}: {len(made.rows)} readings of {len(found.bpms)} BPMs, {len(made.columns)} actuators, {motion}"
    )


@matrix.command(
    epilog=examples(
        "ringmaster feedback matrix convert GoldenBPMResp.mat -o response.csv",
        "ringmaster feedback matrix convert GoldenBPMResp.mat --rows rows.txt --columns columns.txt -o response.csv",
        "ringmaster feedback matrix convert orm.h5 --inside orm/response --unit m -o response.csv",
        "ringmaster feedback matrix convert rx.npy ry.npy --rows 'bpm[001-104]/x bpm[001-104]/y' "
        "--columns 'ps/h[01-48] ps/v[01-64]' --unit mm -o response.csv",
        "ringmaster feedback matrix convert plain.txt --rows 'bpm[01-96]/x' --columns 'ps/h[01-82]' --unit mm -o r.csv",
    )
)
@click.argument("files", metavar="FILE [FILE]…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--rows", metavar="NAMES", help="Of the readings, INSTRUMENT/LANE, or a file with one in a line.")
@click.option("--columns", metavar="NAMES", help="Of the actuators, or a file with one in a line.")
@click.option("--unit", metavar="UNIT", help="Of the readings: nm, um, mm, m; without it as the file says, or nm.")
@click.option("--inside", metavar="NAME", help="Variable of a .mat file, or dataset of an HDF5 file.")
@rf_option
@output_option
def convert(
    files: tuple[Path, ...],
    rows: str | None,
    columns: str | None,
    unit: str | None,
    inside: str | None,
    rf: str | None,
    output: Path,
) -> None:
    """Convert FILE: CSV or plain numbers, .npy, .mat of the MATLAB Middle Layer (measbpmresp, getrespmat), or HDF5.

    Several files, as one for each plane, are joined: 0 stands between the rows of one and the actuators of another.
    --rows and --columns then name those of all, one file after the other.

    Names of a .mat file come from its families and device lists: bpmx_s01_03/x, hcm_s01_02. --rows and --columns give
    those that the server has, in the same order.
    """
    from dataclasses import replace

    from ringmaster.feedback.convert import read_planes
    from ringmaster.feedback.matrix import save_csv

    made, what = read_planes(files, _file_of_names(rows), _file_of_names(columns), unit, inside)
    made = replace(made, rf=rf or made.rf)
    save_csv(output, made, [f"from {', '.join(file.name for file in files)}: {what}"])
    click.echo(f"{output}: {len(made.rows)} readings, {len(made.columns)} actuators, from {what}")


matrix.add_command(measure)


@matrix.command(
    epilog=examples(
        "ringmaster feedback matrix show response.csv",
        "ringmaster feedback matrix show response.csv measured.csv --plot matrices.png",
    )
)
@click.argument("files", metavar="FILE [FILE]", nargs=-1, required=True, type=click.Path(path_type=Path))
@plot_option
@rf_option
@json_option
def show(files: Sequence[Path], plot: Path | None, rf: str | None, as_json: bool) -> None:
    """Show singular values; of two matrices also by how much their BPMs' and actuators' gains differ.

    A row's gain is the factor that makes the first matrix's row most like the second's: of a lattice with another β
    it beats around the ring.
    """
    from dataclasses import replace

    import numpy as np

    from ringmaster.feedback.compare import coupling, difference, draw, singular_values
    from ringmaster.feedback.matrix import load_csv

    if len(files) > 2:
        raise click.UsageError("one matrix, or two to compare")
    read = {str(path): load_csv(path) for path in files}
    matrices = {path: replace(one, rf=rf or one.rf) for path, one in read.items()}
    said: dict[str, Any] = {}
    for path, one in matrices.items():
        planes = {plane: singular_values(one, plane) for plane in "xy"}
        said[path] = {
            "rows": len(one.rows),
            "actuators": len(one.columns),
            "rf": one.rf,
            "coupling": coupling(one),
            "singular_values": {plane: values.tolist() for plane, values in planes.items()},
        }
    if len(files) == 2:
        said["difference"] = difference(*matrices.values()).as_json()
    if plot is not None:
        draw(matrices, plot)
    if as_json:
        print_json(said)
        return
    for path in matrices:
        about = said[path]
        click.echo(
            f"{path}: {about['rows']} readings, {about['actuators']} actuators, coupling {about['coupling']:.3g}"
        )
        if about["rf"] is not None:
            click.echo(
                f"  rf: {about['rf']} is one of the actuators; its column, the dispersion, is in no plane's modes"
            )
        for plane, values in about["singular_values"].items():
            if values:
                kept = [sum(v > share * values[0] for v in values) for share in (0.1, 0.01, 0.001)]
                click.echo(
                    f"  {plane}: {len(values)} modes from {values[0]:.4g} to {values[-1]:.4g} nm per unit; above 10 %, "
                    f"1 %, 0.1 % of the largest: {', '.join(map(str, kept))}"
                )
    if "difference" in said:
        told = said["difference"]
        click.echo(f"difference: {100 * told['relative_rms']:.3g} % RMS of the first")
        for key, what in (("row_gain", "BPM readings"), ("column_gain", "actuators")):
            gains = np.array(list(told[key].values()))
            worst = list(told[key])[int(np.argmax(np.abs(gains)))]
            click.echo(
                f"  gains of {what}: mean {100 * gains.mean():+.2f} %, RMS about it {100 * gains.std():.2f} %, "
                f"at most {100 * gains[np.argmax(np.abs(gains))]:+.1f} % ({worst})"
            )
    print_plot(plot)
