# SPDX-License-Identifier: Apache-2.0
"""Optics from turns: what a kicked or driven beam tells of phase advances, β, coupling, and of its BPMs."""
