# SPDX-License-Identifier: Apache-2.0
"""`python -m ringmaster` is the command line."""

from ringmaster.cli.main import main

main()
