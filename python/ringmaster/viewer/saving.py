# SPDX-License-Identifier: Apache-2.0
"""Frames and pictures into files."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.viewer.frame import Still
from ringmaster.viewer.painting import Rgb

if TYPE_CHECKING:
    from types import ModuleType


class Kind(Enum):
    """What is saved of a frame."""

    PICTURE = "picture"
    """PNG of 8 bits a colour: the part that is shown, as large and in the colours in which it is shown."""
    PIXELS = "pixels"
    """PNG in grey: all pixels, their values unchanged, in 8 bits where the format has no more, else in 16."""
    ARRAY = "array"
    """NumPy's .npy: the same values, [line, column]."""


def save(kind: Kind, still: Still, picture: Rgb, folder: Path, camera: str) -> Path:
    """Writes a new file, named by camera and frame; returns its path. Raises OSError, ValueError."""
    stem = f"{camera.replace('/', '_')}-{still.head.number:08d}"
    path = _free(
        folder, stem if kind is not Kind.PICTURE else f"{stem}-picture", ".npy" if kind is Kind.ARRAY else ".png"
    )
    if kind is Kind.ARRAY:
        np.save(path, still.pixels)
    else:
        write_png(path, picture if kind is Kind.PICTURE else still.pixels)
    return path


def write_png(path: Path, pixels: NDArray[Any]) -> None:
    """Of u8 or u16 [line, column], or u8 [line, column, colour]."""
    image = pillow().fromarray(np.ascontiguousarray(pixels))
    image.save(path, "PNG")


def pillow() -> "ModuleType":
    """Its module Image, or a word on what to install. Raises ValueError."""
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("PNG files need Pillow: install `ringmaster[view]`, or pillow itself") from None
    return Image


def _free(folder: Path, stem: str, suffix: str) -> Path:
    """A path that nothing has yet."""
    path, count = folder / f"{stem}{suffix}", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}-{count}{suffix}"
    return path
