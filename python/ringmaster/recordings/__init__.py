# SPDX-License-Identifier: Apache-2.0
"""Recorded turns in HDF5 files: read from other people's, written from streams, sent again."""
