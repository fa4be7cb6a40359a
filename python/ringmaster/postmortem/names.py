# SPDX-License-Identifier: Apache-2.0
"""What the watch of a workspace is called, and its parameters there."""

OWNER = "postmortem"
COMMAND = f"{OWNER}/trigger"
"""A reason that is put here makes an event."""
ANSWER = f"{OWNER}/answer"
"""The event that the last command belongs to."""
EVENTS = f"{OWNER}/events"
TO_REVIEW = f"{OWNER}/to_review"
LAST = f"{OWNER}/last"
DIRECTORY = f"{OWNER}/directory"
