# SPDX-License-Identifier: Apache-2.0
"""Prove a machine: latency, jitter, intervals, throughput and power of its links, each beside the kernel's own way."""
