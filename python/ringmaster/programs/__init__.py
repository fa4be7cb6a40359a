# SPDX-License-Identifier: Apache-2.0
"""Programs that run beside us: on which cores, until when, and what they leave behind."""
