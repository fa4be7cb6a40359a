# SPDX-License-Identifier: Apache-2.0
"""Events of TANGO: who has subscribed, and what they are told. A client that has gone counts for ten minutes more."""

from typing import Any

from ringmaster.gateways.point import Point, State
from ringmaster.gateways.tango_names import attribute_of
from ringmaster.gateways.tango_values import content, nothing, quality, seconds


def _attribute(device: Any, name: str) -> Any:
    """None where the device is not there, or has no such attribute any more."""
    import tango

    try:
        return None if device is None else device.get_device_attr().get_attr_by_name(name)
    except tango.DevFailed:
        return None


def subscribed(device: Any, name: str) -> bool:
    """Whether a client wants to be told of changes."""
    attribute = _attribute(device, name)
    return attribute is not None and (attribute.change_event_subscribed() or attribute.archive_event_subscribed())


def push(device: Any, point: Point, state: State) -> None:
    """Tells clients of change events, and archivers."""
    import tango

    name, value = attribute_of(point.name), content(point, state)
    valid = getattr(tango.AttrQuality, quality(state) if value is not None else "ATTR_INVALID")
    attribute = _attribute(device, name)
    if attribute is None:
        return
    told = nothing(point) if value is None else value
    if attribute.change_event_subscribed():
        device.push_change_event(name, told, seconds(state), valid)
    if attribute.archive_event_subscribed():
        device.push_archive_event(name, told, seconds(state), valid)


def push_state(device: Any, said: str) -> str:
    """Tells the state of a device where it is another than was said; returns it."""
    import tango

    with tango.AutoTangoMonitor(device):
        state = str(device.dev_state())
    if state != said:
        device.push_change_event("State")
    return state
