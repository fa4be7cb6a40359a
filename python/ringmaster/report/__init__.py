# SPDX-License-Identifier: Apache-2.0
"""Reports that a person can hand on: what a bench found, as text, as JSON, as a page."""
