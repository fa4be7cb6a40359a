# SPDX-License-Identifier: Apache-2.0
"""What a machine is good for: its links, its cores and its power, measured as the source documents measured theirs."""
