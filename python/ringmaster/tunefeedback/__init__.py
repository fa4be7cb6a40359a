# SPDX-License-Identifier: Apache-2.0
"""The tune feedback: what its numbers mean, and the matrix that it needs, from the twin."""
