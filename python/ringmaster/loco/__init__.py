# SPDX-License-Identifier: Apache-2.0
"""LOCO: gradients, gains and rolls of a machine, fitted to its measured response by the twin."""
