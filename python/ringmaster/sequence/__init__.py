# SPDX-License-Identifier: Apache-2.0
"""Sequences that run at the rate of the loop: their files, checked and drawn, and what a running one does."""
