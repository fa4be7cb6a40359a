# SPDX-License-Identifier: Apache-2.0
"""Response matrices by excitation: supplies move at frequencies of their own, a lock-in tells the answers."""
