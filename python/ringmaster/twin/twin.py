# SPDX-License-Identifier: Apache-2.0
"""The twin: a machine, and all that can be asked of it as its methods."""

from ringmaster.twin import envelope, matrices, optics, orbit, parameters, state, tracking, uncoupled
from ringmaster.twin.machine import Machine


class Twin(Machine):
    """A lattice brought to life. ``Twin(lattice)`` is as designed; then set strengths and errors, and ask.

    The lattice may be one of ours, a pyAT ``Lattice`` as it is in memory, or the name of a file.

    ::

        twin = Twin(load_lattice("elettra2.mat"))
        twin.set_value_refpts("QF*", "K", 0.001, increment=True)
        twin.enable_6d()
        _, ring, optics = twin.linopt6(Kind.MONITOR)
        print(ring.tune, optics.beta[:, 0])

    Each method is the function of that name with the twin as its first argument.
    """

    find_orbit = orbit.find_orbit
    find_orbit4 = orbit.find_orbit4
    find_orbit6 = orbit.find_orbit6
    find_sync_orbit = orbit.find_sync_orbit
    find_m44 = matrices.find_m44
    find_m66 = matrices.find_m66
    get_mcf = matrices.get_mcf
    get_slip_factor = matrices.get_slip_factor
    linopt2 = uncoupled.linopt2
    linopt4 = uncoupled.linopt4
    linopt6 = optics.linopt6
    get_optics = optics.get_optics
    get_tune = optics.get_tune
    get_chrom = optics.get_chrom
    get_radiation_integrals = parameters.get_radiation_integrals
    get_energy_loss = parameters.get_energy_loss
    radiation_parameters = parameters.radiation_parameters
    envelope_parameters = parameters.envelope_parameters
    ohmi_envelope = envelope.ohmi_envelope
    optics_and_envelope = state.optics_and_envelope
    track = tracking.lattice_track
