# SPDX-License-Identifier: Apache-2.0
"""What turns say of the beam: orbit, tunes, and the kick by which instruments are aligned."""
