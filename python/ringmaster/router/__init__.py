# SPDX-License-Identifier: Apache-2.0
"""The router, for people: its figures, its live page, and a server made for it."""
