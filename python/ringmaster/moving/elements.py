# SPDX-License-Identifier: Apache-2.0
"""A parameter that is one number, or one element of one that has several."""

import re
from dataclasses import dataclass

import numpy as np

from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.request import Wanted
from ringmaster.fabric.workspace import Workspace

_ELEMENT = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]")


@dataclass(frozen=True)
class Element:
    """By name, "feedback/golden", and which; None where the parameter is one number."""

    name: str
    index: int | None

    def of(self, ws: Workspace) -> Parameter:
        """Its parameter."""
        return ws.parameters[self.name]

    def unit(self, ws: Workspace) -> str:
        """The parameter's."""
        return self.of(ws).unit

    def value(self, ws: Workspace) -> float:
        """Now."""
        return float(np.ravel(np.asarray(self.of(ws).value))[self.index or 0])

    def within(self, ws: Workspace, target: float, values: Wanted | None = None) -> Wanted:
        """What to put: the number, or the whole array with it; ``values``: the array with others that are changed."""
        parameter = self.of(ws)
        if self.index is None:
            return target if parameter.dtype.kind == "f" else round(target)
        array = np.array(parameter.value if values is None else values, parameter.dtype).ravel()
        array[self.index] = target
        return array


def element_of(ws: Workspace, name: str) -> Element:
    """Raises ObjectNotFound where there is none, ValueError for what has no such element or is nobody's to set."""
    found = None if name in ws.parameters else _ELEMENT.fullmatch(name)
    base, index = (name, None) if found is None else (found["name"], int(found["index"]))
    parameter = ws.parameters[base]
    if parameter.is_text:
        raise ValueError(f"{base} is text; a change moves numbers")
    if index is None and parameter.count != 1:
        raise ValueError(f"{base} has {parameter.count} elements; say which, as {base}[0]")
    if index is not None and index >= parameter.count:
        raise ValueError(f"{base} has {parameter.count} elements, [0] to [{parameter.count - 1}]; found [{index}]")
    if not parameter.writable:
        raise ValueError(f"{base}: others may not set it; its owner, {parameter.owner}, alone does")
    if not parameter.setting and f"{parameter.owner}/withdrawn" in ws.parameters:
        raise ValueError(f"{base} is a permission to act, which no file gives; `ringmaster put {base} …` does")
    return Element(base, index)
