# SPDX-License-Identifier: Apache-2.0
"""The packet generator, for people: its figures, its live page, its scripts, and a server made for it."""
