# SPDX-License-Identifier: Apache-2.0
"""Gateways: what a workspace holds, for programs that speak another protocol. They only read shared memory, and ask
owners by the same requests as all others.

`gateway.py` is what all of them share: it watches, names, queues puts. A protocol is a Sink of it: EPICS has two,
`pva.py` and `ca.py`.
"""
