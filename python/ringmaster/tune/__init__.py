# SPDX-License-Identifier: Apache-2.0
"""What the tune tells once something is moved: chromaticity, synchrotron tune, damping, coupling."""
