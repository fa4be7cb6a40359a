# SPDX-License-Identifier: Apache-2.0
"""The shared memory of a workspace, as readers and owners see it: streams, clock, parameters, counters, supplies.

``workspace`` attaches and finds; ``owner`` makes a segment of one's own. All else is one kind of object a module.
"""
