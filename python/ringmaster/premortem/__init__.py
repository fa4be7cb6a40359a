# SPDX-License-Identifier: Apache-2.0
"""Pre-mortem beside the application: thresholds of its detectors with a stated rate of false alarms."""
