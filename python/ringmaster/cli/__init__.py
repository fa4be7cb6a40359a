# SPDX-License-Identifier: Apache-2.0
"""The command line: `ringmaster`, or `python -m ringmaster`.

Whatever is not needed to print a help text is imported by the command that needs it: the shell waits for us.
"""
