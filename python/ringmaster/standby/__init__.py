# SPDX-License-Identifier: Apache-2.0
"""Two servers, one machine: who of them sends, what keeps the other from READY, and what a person may ask of them."""
