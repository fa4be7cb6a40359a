# SPDX-License-Identifier: Apache-2.0
"""Measurements of the shipped programs, each beside a peer, alternating in one run."""
