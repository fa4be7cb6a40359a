# SPDX-License-Identifier: Apache-2.0
"""Beam-based alignment: what BPMs read where the beam goes through the centres of magnets."""
