# SPDX-License-Identifier: Apache-2.0
"""Models beside a running machine, in step with it, each a process; and what a change would do: docs/twin-follow.md."""
