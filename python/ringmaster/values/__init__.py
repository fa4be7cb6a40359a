# SPDX-License-Identifier: Apache-2.0
"""Values of a workspace as people and files have them: as text, listed, watched, saved and restored."""
