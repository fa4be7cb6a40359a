# SPDX-License-Identifier: Apache-2.0
"""One description of a machine: what a server's configuration says of it, and which element of a lattice is what."""
