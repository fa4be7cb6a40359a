# SPDX-License-Identifier: Apache-2.0
"""Response matrices: from the twin, from others' files, compared, and what is made of them."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from command import ringmaster

from ringmaster.errors import ObjectNotFound
from ringmaster.feedback.compare import difference, singular_values
from ringmaster.feedback.convert import join, read_any, read_planes
from ringmaster.feedback.golden import closed_bump, matching
from ringmaster.feedback.matrix import Matrix, load_csv, load_values, save_csv, save_values
from ringmaster.machine.mapping import expand, resolve
from ringmaster.machine.server_file import instruments, supplies
from ringmaster.twin import Twin, load_lattice

ROWS = "bpm[01-84]/{x1,y1,x2,y2}"
MAPPING = f"""
bpms: "BPM_*"
rows: "{ROWS}"
correctors:
  - {{elements: "CF_S0[1-2]_*", plane: x, actuators: "ps/fx_[01-12]", urad_per_unit: 10}}
  - {{elements: "CF_S0[1-2]_*", plane: y, actuators: "ps/fy_[01-12]", urad_per_unit: 5}}
rf: {{actuator: rf/1, hz_per_unit: 2}}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix of the shipped lattice, by the command."""
    folder = tmp_path_factory.mktemp("matrix")
    (folder / "map.yaml").write_text(MAPPING)
    ringmaster(
        "feedback", "matrix", "twin", "elettra2_like", "--map", str(folder / "map.yaml"), "-o", str(folder / "r.csv")
    )
    return folder / "r.csv"


def test_names_are_expanded() -> None:
    assert expand("b[08-10]/{x,y}") == ["b08/x", "b08/y", "b09/x", "b09/y", "b10/x", "b10/y"]
    assert expand("plain") == ["plain"]


def test_the_twins_matrix_is_what_a_kick_does(made: Path) -> None:
    matrix = load_csv(made)
    assert matrix.values.shape == (336, 25)
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    bpms = twin.lattice.find("BPM_*")
    _, before = twin.find_orbit(bpms)
    (element,) = twin.lattice.find("CF_S01_02")
    twin.set_kick(int(element), horizontal=10e-6 * 0.1)  # a tenth of a unit of ps/fx_02
    _, after = twin.find_orbit(bpms)
    moved = (after - before)[:, [0, 2]].ravel() * 1e9 / 0.1
    column = matrix.values[:, matrix.columns.index("ps/fx_02")]
    assert column == pytest.approx(moved, abs=2e-3 * np.abs(moved).max())
    twin.set_kick(int(element), horizontal=0.0)
    orbits = []
    design = twin.rf_frequency
    for units in (-1.0, 1.0):
        twin.set_cavity(Frequency=design + 2 * units)
        orbits.append(twin.find_orbit(bpms)[1])
    moved = (orbits[1] - orbits[0])[:, [0, 2]].ravel() * 1e9 / 2
    assert matrix.values[:, -1] == pytest.approx(moved, abs=2e-3 * np.abs(moved).max())


def test_what_does_not_fit_is_reported(tmp_path: Path) -> None:
    lattice = load_lattice("elettra2_like")
    with pytest.raises(ValueError, match="336 readings; 168 names"):
        resolve(lattice, {"bpms": "BPM_*", "rows": "bpm[01-84]/{x1,y1}"})
    for actuators, words in (("ps/[1-3]", "72 elements of elettra2_like, 3 actuators"), ("ps/*", "matches nothing")):
        group = {"elements": "CF_*", "plane": "x", "actuators": actuators}
        with pytest.raises(ValueError, match=words):
            resolve(lattice, {"bpms": "BPM_*", "rows": ROWS, "correctors": [group]})


def test_a_servers_names_are_had_from_its_file() -> None:
    config = {
        "instruments": [{"name": "bpm", "kind": "bpm", "count": 3}, {"name": "l", "kind": "llrf"}],
        "chains": [{"name": "c", "count": 2, "supplies": [{"name": "ps/h{chain}_", "count": 2}, {"name": "v{chain}"}]}],
    }
    assert instruments(config, "bpm") == ["bpm01", "bpm02", "bpm03"]
    assert supplies(config) == ["ps/h01_01", "ps/h01_02", "v01", "ps/h02_01", "ps/h02_02", "v02"]


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    matrix = Matrix(("b1/x", "b1/y"), ("a", "b", "c"), np.array([[1.5, -2e6, 3e-7], [0.0, 1.0, 2.0]]))
    save_csv(tmp_path / "m.csv", matrix, ["a\ncomment"])
    again = load_csv(tmp_path / "m.csv")
    assert (again.rows, again.columns) == (matrix.rows, matrix.columns)
    assert again.values == pytest.approx(matrix.values)
    save_values(tmp_path / "g.csv", matrix.rows, np.array([5.0, -7.0]), "golden")
    found = load_values(tmp_path / "g.csv", ("b1/y", "b1/x", "b2/x"))
    assert found[:2].tolist() == [-7.0, 5.0]
    assert np.isnan(found[2])
    with pytest.raises(ValueError, match="g.csv:2: 'b1/x' is no row"):
        load_values(tmp_path / "g.csv", ("b1/y",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no matrix in it"),
        (",a,b\nr/x,1\n", ":2: 1 numbers, expected 2"),
        (",a,b\nr/x,1,two\n", ":2: field 3: found 'two'"),
        (",a,b\nr/x,1,nan\n", ":2: field 3: found 'nan'"),
        (",a,a\nr/x,1,2\n", "actuator 'a' is there twice"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        load_csv(tmp_path / "bad.csv")


def mml(family: str, actuator: str, devices: list[list[int]], data: np.ndarray) -> dict[str, object]:
    """One block as the MATLAB Middle Layer keeps it."""
    return {
        "Data": data,
        "Monitor": {"FamilyName": family, "DeviceList": np.array(devices, float), "UnitsString": "mm"},
        "Actuator": {"FamilyName": actuator, "DeviceList": np.array(devices[:1], float), "UnitsString": "amp"},
        "Units": "Hardware",
        "UnitsString": "mm/amp",
        "GeV": 2.0,
    }


def test_the_matlab_middle_layers_file(tmp_path: Path) -> None:
    devices = [[1, 1], [1, 2], [12, 8]]
    blocks = [
        [mml("BPMx", "HCM", devices, np.array([[1.0], [2], [3]])), mml("BPMx", "VCM", devices, np.full((3, 1), 0.1))],
        [mml("BPMy", "HCM", devices, np.full((3, 1), 0.2)), mml("BPMy", "VCM", devices, np.array([[4.0], [5], [6]]))],
    ]
    kinds = [(name, object) for name in blocks[0][0]]
    rmat = np.empty((2, 2), kinds)
    for i in range(2):
        for j in range(2):
            rmat[i, j] = tuple(blocks[i][j][name] for name, _ in kinds)
    scipy.io.savemat(tmp_path / "Golden.mat", {"Rmat": rmat, "Comment": "kept"})
    matrix, what = read_any(tmp_path / "Golden.mat")
    assert "Middle Layer" in what
    assert matrix.rows[:3] == ("bpmx_s01_01/x", "bpmx_s01_02/x", "bpmx_s12_08/x")
    assert matrix.rows[3] == "bpmy_s01_01/y"
    assert matrix.columns == ("hcm_s01_01", "vcm_s01_01")
    expected = np.array([[1, 0.1], [2, 0.1], [3, 0.1], [0.2, 4], [0.2, 5], [0.2, 6]]) * 1e6
    assert matrix.values == pytest.approx(expected)
    output = str(tmp_path / "o.csv")
    ringmaster(
        *("feedback", "matrix", "convert", str(tmp_path / "Golden.mat"), "--rows", "b[1-3]/x b[1-3]/y"),
        *("--columns", "ps/h ps/v", "-o", output),
    )
    assert load_csv(Path(output)).rows == ("b1/x", "b2/x", "b3/x", "b1/y", "b2/y", "b3/y")


def test_hdf5_and_plain_numbers(tmp_path: Path) -> None:
    values = np.array([[1.0, 2], [3, 4]])
    with h5py.File(tmp_path / "m.h5", "w") as file:
        data = file.create_dataset("orm/response", data=values)
        data.attrs["unit"] = "m"
        file["orm/rows"] = ["b1/x", "b1/y"]
        file["orm/columns"] = ["h", "v"]
    matrix, _ = read_any(tmp_path / "m.h5")
    assert (matrix.rows, matrix.columns) == (("b1/x", "b1/y"), ("h", "v"))
    assert matrix.values == pytest.approx(values * 1e9)
    (tmp_path / "plain.txt").write_text("% of another program\n1 2\n3 4\n")
    matrix, _ = read_any(tmp_path / "plain.txt", ("b1/x", "b1/y"), ("h", "v"), "um")
    assert matrix.values == pytest.approx(values * 1e3)
    with pytest.raises(ValueError, match="2 rows and 2 columns of numbers without names"):
        read_any(tmp_path / "plain.txt")


def test_planes_of_different_size_are_joined(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(104, 48)), random.normal(size=(104, 64))
    np.save(tmp_path / "x.npy", x)
    np.savetxt(tmp_path / "y.csv", y, delimiter=",", fmt="%.17g")
    output = tmp_path / "r.csv"
    ringmaster(
        *("feedback", "matrix", "convert", str(tmp_path / "x.npy"), str(tmp_path / "y.csv"), "--unit", "mm"),
        *("--rows", "bpm[001-104]/x bpm[001-104]/y", "--columns", "ps/h[01-48] ps/v[01-64]", "-o", str(output)),
    )
    made = load_csv(output)
    assert made.values.shape == (208, 112)
    assert made.values[:104, :48] == pytest.approx(x * 1e6)
    assert made.values[104:, 48:] == pytest.approx(y * 1e6)
    assert not made.values[:104, 48:].any()
    assert not made.values[104:, :48].any()
    assert made.plane_of_columns("x").sum() == 48
    for count in (207, 209):
        words = rf"{count} names of rows, where 2 files have 104 \+ 104: give all, or none"
        with pytest.raises(ValueError, match=words):
            read_planes(
                [tmp_path / "x.npy", tmp_path / "y.csv"],
                [f"b{i}/x" for i in range(count)],
                [f"c{i}" for i in range(112)],
            )


def test_joined_files_must_agree() -> None:
    one = Matrix(("b/x",), ("h",), np.array([[1.0]]))
    assert join([one, one]).values.tolist() == [[1.0]]
    with pytest.raises(ValueError, match="row 'b/x' of actuator 'h', with different values"):
        join([one, Matrix(("b/x",), ("h",), np.array([[2.0]]))])


def test_matlabs_hdf5_files_and_numpys_are_read(tmp_path: Path) -> None:
    values = np.arange(6.0).reshape(3, 2)
    rows, columns = ("a/x", "b/x", "c/x"), ("h", "v")
    np.save(tmp_path / "m.npy", values)
    assert read_any(tmp_path / "m.npy", rows, columns)[0].values.tolist() == values.tolist()
    with h5py.File(tmp_path / "m.mat", "w", userblock_size=512) as file:
        file["R"] = values.T  # as MATLAB 7.3 has it
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    with (tmp_path / "m.mat").open("r+b") as raw:
        raw.write(head)
    assert read_any(tmp_path / "m.mat", rows, columns)[0].values.tolist() == values.tolist()
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"cube\.npy: expected one array of numbers of 2 dimensions"):
        read_any(tmp_path / "cube.npy", rows, columns)
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"bad\.npy"):
        read_any(tmp_path / "bad.npy", rows, columns)


def test_the_rf_is_no_mode_of_a_plane(made: Path) -> None:
    matrix = load_csv(made)
    assert matrix.rf == "rf/1"
    assert (len(singular_values(matrix, "x")), len(singular_values(matrix, "y"))) == (12, 12)
    shown = ringmaster("feedback", "matrix", "show", str(made)).stdout
    assert "x: 12 modes" in shown
    assert "rf/1" in shown
    with pytest.raises(ValueError, match="the RF's actuator 'no' is none of the 25 actuators"):
        Matrix(matrix.rows, matrix.columns, matrix.values, "no")


def test_two_matrices_are_compared(made: Path, tmp_path: Path) -> None:
    matrix = load_csv(made)
    gains = np.ones(len(matrix.rows))
    gains[4] = 1.1
    other = Matrix(matrix.rows, matrix.columns, gains[:, None] * matrix.values)
    found = difference(matrix, other)
    assert found.row_gain[matrix.rows[4]] == pytest.approx(0.1)
    assert found.row_gain[matrix.rows[8]] == pytest.approx(0.0)
    save_csv(tmp_path / "other.csv", other)
    plot = str(tmp_path / "both.png")
    said = json.loads(
        ringmaster(
            "feedback", "matrix", "show", str(made), str(tmp_path / "other.csv"), "--plot", plot, "--json"
        ).stdout
    )
    assert said["difference"]["relative_rms"] == pytest.approx(found.relative_rms, rel=1e-4)
    assert said[str(made)]["singular_values"]["x"] == pytest.approx(singular_values(matrix, "x").tolist())
    assert Path(plot).read_bytes().startswith(b"\x89PNG")


def test_a_bump_is_closed(made: Path) -> None:
    matrix = load_csv(made)
    row = matrix.rows.index("bpm07/x1")
    bump = closed_bump(matrix, {row: 100e3}, near=3)
    assert bump.orbit_nm[row] == pytest.approx(100e3, rel=0.02)
    far = np.array([name.endswith(("x1", "x2")) and not "bpm04" < name < "bpm11" for name in matrix.rows])
    assert np.abs(bump.orbit_nm[far]).max() < 10e3
    assert np.abs(bump.orbit_nm[matrix.plane_of_rows("y")]).max() < 1.0
    used = np.ones(len(matrix.columns), np.bool_)
    used[2] = False
    assert closed_bump(matrix, {row: 100e3}, used).currents[2] == 0.0
    with pytest.raises(ValueError, match="no actuator moves"):
        closed_bump(matrix, {row: 1.0}, np.zeros(len(matrix.columns), np.bool_))


def test_names_are_matched() -> None:
    names = ("b1/x1", "b1/y1", "b2/x1", "ps/h_1", "ps/h_2")
    assert matching(names, ["b1"]) == [0, 1]
    assert matching(names, ["b2/x1", "ps/h_*"]) == [2, 3, 4]
    with pytest.raises(ObjectNotFound, match="'b3' is no BPM reading and no supply"):
        matching(names, ["b3"])
