# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster demo` reports of a run, and what is wrong with it."""
