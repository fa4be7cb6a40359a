# SPDX-License-Identifier: Apache-2.0
"""An application and a virtual ring in simulated time: ``simulate`` runs them, and a run is arrays of NumPy."""

from ringmaster.simulation.run import Difference as Difference
from ringmaster.simulation.run import Replayed as Replayed
from ringmaster.simulation.run import Simulation as Simulation
from ringmaster.simulation.run import Spectrum as Spectrum
from ringmaster.simulation.run import line as line
from ringmaster.simulation.run import replay as replay
from ringmaster.simulation.run import simulate as simulate
from ringmaster.simulation.run import spectrum as spectrum
