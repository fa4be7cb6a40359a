# SPDX-License-Identifier: Apache-2.0
"""False colours: a table of 256 colours for each map."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

ANCHORS = {
    "grey": "000000 ffffff",
    "viridis": "440154 481f70 443983 3b528b 31688e 287c8e 21918c 20a486 35b779 5ec962 90d743 c8e020 fde725",
    "inferno": "000004 110a30 320a5e 57106e 781c6d 9a2865 bc3754 d84c3e ed6925 f98e09 fbb61a f4df53 fcffa4",
    "turbo": "30123b 434eba 4685fa 28bceb 1ae4b6 55fa76 a4fc3c d9e436 faba39 fb7e21 e4450a b91e02 7a0403",
    "exposure": "000000 ffffff",
}
"""Equally spaced colours of each map, between which it is linear; three are matplotlib's maps of these names."""
NAMES = tuple(ANCHORS)
DARK, BRIGHT = (0, 0, 255), (255, 0, 0)
"""In "exposure": black and below, white and above."""


@cache
def table(name: str) -> NDArray[np.uint8]:
    """Red, green and blue of the 256 steps from black to white."""
    anchors = np.array([list(bytes.fromhex(colour)) for colour in ANCHORS[name].split()], np.float64)
    steps = np.linspace(0, len(anchors) - 1, 256)
    made = np.stack([np.interp(steps, np.arange(len(anchors)), channel) for channel in anchors.T], axis=1)
    colours: NDArray[np.uint8] = np.rint(made).astype(np.uint8)
    if name == "exposure":
        colours[0], colours[-1] = DARK, BRIGHT
    return colours
