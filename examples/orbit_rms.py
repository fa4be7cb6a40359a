# SPDX-License-Identifier: Apache-2.0
"""Prints the RMS of the horizontal orbit over the last 1000 turns, once a second: python3 orbit_rms.py"""

from time import sleep

import numpy as np

import ringmaster

with ringmaster.attach() as ws:
    bpms = [stream for name, stream in ws.streams.items() if name.startswith("bpm") and name.endswith("/turn")]
    while ws.alive:
        turn = min(bpm.head or 0 for bpm in bpms)
        orbit = [np.nanmean(bpm.read(max(0, turn - 999), 1000).values("x1")) for bpm in bpms]
        print(f"turn {turn}: {np.sqrt(np.mean(np.square(orbit))):.1f} {bpms[0].lanes[0].unit} RMS", flush=True)
        sleep(1)
