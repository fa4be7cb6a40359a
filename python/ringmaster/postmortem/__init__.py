# SPDX-License-Identifier: Apache-2.0
"""After a beam loss: what is kept of it, what began when, and what caused it."""
