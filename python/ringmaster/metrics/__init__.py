# SPDX-License-Identifier: Apache-2.0
"""What a workspace counts, for Prometheus: names by its conventions, the exposition, and the endpoint."""
