# SPDX-License-Identifier: Apache-2.0
"""The window of `ringmaster view`: images of cameras, live, from the fabric.

What is shown, and how it is computed, is in modules that need no display; ``window`` alone draws, by Tk. In the order
in which a frame passes: ``images`` leases it, for a ``desk`` that says which cameras are shown and how; ``geometry``
and ``reduction`` make it as small as its ``tile``, ``levels`` and ``colours`` give it colours, ``painting`` marks what
is missing.
"""
