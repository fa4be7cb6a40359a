# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster top` shows, without a terminal: figures, the last minute, faults, and pages as lines of text.

``watch`` looks at a workspace, ``pages`` turns what it saw into lines, ``keys`` says what a key does. The command line
(ringmaster/cli/console.py) puts the lines on a terminal.
"""
