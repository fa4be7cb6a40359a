# SPDX-License-Identifier: Apache-2.0
"""Measurements of the shipped programs, and of a host and its links, each beside a peer, alternating in one run."""
