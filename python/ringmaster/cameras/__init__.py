# SPDX-License-Identifier: Apache-2.0
"""What a receiver of cameras does: frames, losses, latencies and leases of each of its cameras."""
