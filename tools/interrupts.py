# SPDX-License-Identifier: Apache-2.0
"""For what runs tests: Ctrl-C, also to the programs that they start."""

import signal


def hear_interrupts() -> None:
    """A shell starts what it puts into the background deaf to Ctrl-C, and nohup deaf to a hang-up. Programs that tests
    start inherit that: Python raises no KeyboardInterrupt then, and a test that interrupts one waits in vain.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
