# SPDX-License-Identifier: Apache-2.0
"""Windows in a binary SDDS file: arrays STREAM/turn, STREAM/utc, STREAM/ok, STREAM/status and STREAM/LANE, and a
parameter STREAM/kind. recordings/sdds_file.py reads it.
"""

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ringmaster.archive.window import ArchiveWindow
from ringmaster.errors import ArchiveArgument
from ringmaster.recordings.export import Exported

_TYPES = {"i4": "long", "f4": "float", "f8": "double", "i8": "llong", "i2": "short"}


class SddsWriter:
    """Holds all until the end: SDDS has the lengths before the values."""

    def __init__(self, path: Path) -> None:
        try:
            import sdds
            from sdds.classes import Array, Parameter
        except ImportError:
            raise ArchiveArgument("SDDS needs the package sdds: install `ringmaster[archive]`") from None
        self._sdds, self._array, self._parameter = sdds, Array, Parameter
        self._path = path
        self._parts: dict[str, list[np.typing.NDArray[Any]]] = {}
        self._units: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._stream: Exported | None = None

    def __enter__(self) -> "SddsWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        arrays = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        kinds = [self._parameter(name, "string") for name in self._kinds]
        definitions = [
            self._array(name, _TYPES[values.dtype.str[1:]], dimensions=1, units=self._units.get(name) or None)
            for name, values in arrays.items()
        ]
        written = self._sdds.SddsFile("SDDS1", None, [*kinds, *definitions], [*self._kinds.values(), *arrays.values()])
        self._sdds.write_sdds(written, self._path)

    def begin(self, stream: Exported) -> None:
        """What is appended from here on is of this stream."""
        self._stream = stream
        self._kinds[f"{stream.name}/kind"] = stream.instrument_kind.name.lower()
        self._units |= {f"{stream.name}/{lane.name}": lane.unit for lane in stream.lanes}

    def append(self, window: ArchiveWindow) -> None:
        """More records; f4 and f8 lanes are NaN where the record was not had, and integers 0."""
        assert self._stream is not None, "begin() a stream first"
        name = self._stream.name
        self._add(f"{name}/turn", window.turn.astype(np.int64))
        self._add(f"{name}/utc", window.utc_ns.astype(np.int64))
        self._add(f"{name}/ok", window.ok.astype(np.int16))
        self._add(f"{name}/status", window.status.astype(np.int32))
        for lane in self._stream.lanes:
            values = window[lane.name]
            whole = values.dtype.kind == "i"
            self._add(f"{name}/{lane.name}", values if whole else np.where(window.ok, values, np.float32(np.nan)))

    def _add(self, name: str, values: np.typing.NDArray[Any]) -> None:
        self._parts.setdefault(name, []).append(values)
