# SPDX-License-Identifier: Apache-2.0
"""The command line as it is, but for constants that are given before its words, as MODULE.NAME=VALUE.

A test of a measurement asks whether it measures, and not how well: so it need not look at the machine, nor wait until
caches are warm, for as long as who wants a figure of it.
"""

import sys
from importlib import import_module

from ringmaster.cli.main import main

while "=" in sys.argv[1]:
    name, _, value = sys.argv.pop(1).partition("=")
    module, _, constant = name.rpartition(".")
    kind = type(getattr(import_module(module), constant))
    setattr(import_module(module), constant, kind(value))
main()
