# SPDX-License-Identifier: Apache-2.0
"""After a beam loss: what is kept of it, what began when, and what caused it.

::

    watch        looks at triggers and captures what they see: a process of its own
    catalogue    the events that were captured
    evidence     what an explanation is made of, wherever it comes from
    onset        the turn at which each stream began to differ, or that none did
    causes       single causes, ranked by their likelihood; *unknown* is one of them
    report       all of it as a page
"""
