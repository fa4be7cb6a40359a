# SPDX-License-Identifier: Apache-2.0
"""The static orbit: against a target, and corrected by the supplies that may be moved, in both planes and the RF."""
