# SPDX-License-Identifier: Apache-2.0
"""Ringmaster: turn-by-turn data of every instrument of a ring, in plain memory."""

__version__ = "0.1.0"
