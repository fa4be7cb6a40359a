# SPDX-License-Identifier: Apache-2.0
"""LOCO: the optics of a machine, and the errors of its BPMs and correctors, from its measured orbit response.

J. Safranek, Nucl. Instrum. Methods A 388, 27 (1997). The model is a twin whose gradients may differ; readings are
2 × 2 matrices of the beam's position, kicks have gains and rolls. docs/loco.md is for those who use it.
"""
