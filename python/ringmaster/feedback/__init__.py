# SPDX-License-Identifier: Apache-2.0
"""The orbit feedback as people see it: its state in words, response matrices, and how it ought to behave.

``ringmaster feedback`` is this on the command line. docs/feedback.md leads through it.
"""
