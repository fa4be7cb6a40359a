# SPDX-License-Identifier: Apache-2.0
"""Which class a device is of. In TANGO attributes of one name have one type, one size and one kind of access in all of
a class: devices that cannot be of one are of several, Ringmaster, Ringmaster2 and so on.
"""

from collections.abc import Callable, Iterable, Mapping

from ringmaster.gateways.point import Point
from ringmaster.gateways.tango_names import attribute_of
from ringmaster.gateways.tango_values import typed

CLASS = "Ringmaster"

Signature = dict[str, tuple[object, bool]]
"""Of each attribute, by its name in small letters: what kind it is, and whether it is written."""


def classes_of(devices: Mapping[str, Iterable[Point]], is_written: Callable[[Point], bool]) -> dict[str, str]:
    """The class of each device, by its name: the first that it fits into."""
    classes: list[Signature] = []
    found: dict[str, str] = {}
    for name, points in devices.items():
        own = {attribute_of(it.name).casefold(): (typed(it), is_written(it)) for it in points}
        fitting = (i for i, it in enumerate(classes) if all(it.get(key, one) == one for key, one in own.items()))
        index = next(fitting, len(classes))
        if index == len(classes):
            classes.append({})
        classes[index].update(own)
        found[name] = f"{CLASS}{index + 1}" if index else CLASS
    return found
