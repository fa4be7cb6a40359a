# SPDX-License-Identifier: Apache-2.0
"""A whole commissioning session on a virtual ring with hidden errors, and its score by what the ring had drawn."""
