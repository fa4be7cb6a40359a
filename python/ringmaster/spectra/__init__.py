# SPDX-License-Identifier: Apache-2.0
"""Spectra of any lane of any stream, live or archived: density, cumulated RMS, lines, spectrogram."""
