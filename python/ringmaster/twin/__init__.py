# SPDX-License-Identifier: Apache-2.0
"""The digital twin: the physics of the Accelerator Toolbox, by a C library that holds nothing global.

::

    from ringmaster.twin import Kind, Twin, load_lattice

    twin = Twin(load_lattice("elettra2.mat"))
    twin.enable_6d()
    start, ring, optics = twin.get_optics(Kind.MONITOR)
    print(ring.tune, optics.beta[:, 0])

Names, arguments and fields are pyAT's; docs/twin.md says where the results differ, and why. Functions take a twin, or a
lattice as it was designed; a twin has them as methods.
"""

from ringmaster.errors import LatticeAbsent, LatticeInvalid, TwinArgument, TwinError, TwinNoAnswer
from ringmaster.twin.elements import Element, Kind, Radiation
from ringmaster.twin.envelope import ohmi_envelope
from ringmaster.twin.lattice import Lattice, load_lattice, load_m, load_madx, load_mat, save_mat
from ringmaster.twin.matrices import find_m44, find_m66, get_mcf, get_slip_factor
from ringmaster.twin.optics import get_chrom, get_optics, get_tune, linopt6
from ringmaster.twin.orbit import find_orbit, find_orbit4, find_orbit6, find_sync_orbit
from ringmaster.twin.parameters import (
    RingParameters,
    envelope_parameters,
    get_energy_loss,
    get_radiation_integrals,
    radiation_parameters,
)
from ringmaster.twin.points import All, End
from ringmaster.twin.response import OrbitResponseMatrix, orbit_response, response_derivative, response_factors
from ringmaster.twin.tracking import lattice_pass, lattice_track
from ringmaster.twin.twin import Twin
from ringmaster.twin.uncoupled import linopt2, linopt4

__all__ = [
    "All",
    "Element",
    "End",
    "Kind",
    "Lattice",
    "LatticeAbsent",
    "LatticeInvalid",
    "OrbitResponseMatrix",
    "Radiation",
    "RingParameters",
    "Twin",
    "TwinArgument",
    "TwinError",
    "TwinNoAnswer",
    "envelope_parameters",
    "find_m44",
    "find_m66",
    "find_orbit",
    "find_orbit4",
    "find_orbit6",
    "find_sync_orbit",
    "get_chrom",
    "get_energy_loss",
    "get_mcf",
    "get_optics",
    "get_radiation_integrals",
    "get_slip_factor",
    "get_tune",
    "lattice_pass",
    "lattice_track",
    "linopt2",
    "linopt4",
    "linopt6",
    "load_lattice",
    "load_m",
    "load_madx",
    "load_mat",
    "ohmi_envelope",
    "orbit_response",
    "radiation_parameters",
    "response_derivative",
    "response_factors",
    "save_mat",
]
