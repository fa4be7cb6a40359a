# SPDX-License-Identifier: Apache-2.0
"""The device of TANGO, whose attributes are made when it is known what there is.

The class is made in a function, because PyTango is not in every installation.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ringmaster.gateways.point import Point
from ringmaster.gateways.rights import Client
from ringmaster.gateways.tango_names import attribute_of
from ringmaster.gateways.tango_values import content, described, latin, quality, seconds

if TYPE_CHECKING:
    from ringmaster.gateways.tango_sink import Tango

LOCAL = "127.0.0.1"
REFUSED, GONE = "Ringmaster_Refused", "Ringmaster_Gone"
"""Reasons of a DevFailed."""


def client_of(ident: Any) -> Client:
    """Who asks: TANGO tells the address alone, as giop:tcp:10.1.0.7:43720; on this host it may be a socket's name."""
    told = str(ident.client_ip)
    here = told.startswith("giop:unix:")
    address = LOCAL if here else told.removeprefix("giop:tcp:").rpartition(":")[0].strip("[]")
    return Client("", address, address, "TANGO")


def fail(reason: str, words: str, device: str) -> None:
    """Raises DevFailed."""
    import tango

    tango.Except.throw_exception(reason, latin(words), device)


def describe(device: Any, point: Point) -> None:
    """Gives an attribute its unit, ranges and words. TANGO has them from the first device of a class, and would write
    others to its database, for good: what the workspace says counts.
    """
    import tango

    words = described(point)
    if not words:
        return
    attribute = device.get_device_attr().get_attr_by_name(attribute_of(point.name))
    properties = attribute.get_properties()
    for name, value in words.items():
        setattr(properties, name, value)
    with_database = tango.Util._UseDb
    tango.Util.set_use_db(False)
    try:
        attribute.set_properties(properties)
    finally:
        tango.Util.set_use_db(with_database)


def device_class(sink: "Tango", name: str) -> Any:
    """A class of that name, whose devices are this sink's."""
    import tango
    from tango.server import Device

    class Ringmaster(Device):  # type: ignore[misc]
        """What a workspace shows under one name."""

        def initialize_dynamic_attributes(self) -> None:
            """Its attributes and commands."""
            sink.begin(self)

        def dev_state(self) -> Any:
            """UNKNOWN where an owner has ended; of a loop, what it does; ON; ALARM where an attribute is."""
            name, _ = sink.state_of(self.get_name())
            state = getattr(tango.DevState, name)
            self.set_state(state)
            return super().dev_state() if name == "ON" else state

        def dev_status(self) -> str:
            """The same in words."""
            return latin(sink.state_of(self.get_name())[1])

        def read_point(self, attribute: Any) -> None:
            """An attribute's value, of now."""
            point, state = sink.read(self.get_name(), attribute.get_name())
            value = content(point, state)
            if value is None:
                attribute.set_date(tango.TimeVal.fromtimestamp(seconds(state)))
                attribute.set_quality(tango.AttrQuality.ATTR_INVALID)
                return
            if sink.is_unwritten(point):  # else the setpoint is what was written last
                with suppress(tango.DevFailed):  # of what stands beyond its own limits TANGO takes no setpoint
                    attribute.set_write_value(value)
            attribute.set_value_date_quality(value, seconds(state), getattr(tango.AttrQuality, quality(state)))

        def write_point(self, attribute: Any) -> None:
            """Asks the owner, and waits."""
            value = attribute.get_write_value()
            sink.write(self.get_name(), attribute.get_name(), value, client_of(self.get_client_ident()))

        def read_turn(self, attribute: Any) -> None:
            """The newest turn of what the device says."""
            turn = sink.turn(self.get_name())
            if turn is None:
                attribute.set_quality(tango.AttrQuality.ATTR_INVALID)
            else:
                attribute.set_value(turn)

        def _command(self, word: str) -> None:
            sink.command(self.get_name(), word, client_of(self.get_client_ident()))

        def On(self) -> None:  # noqa: N802 (TANGO's way with commands)
            """Switch the loop on: it starts softly as soon as all enable conditions are there."""
            self._command("On")

        def Off(self) -> None:  # noqa: N802
            """Switch the loop off: all setpoints stay where they are."""
            self._command("Off")

        def Hold(self) -> None:  # noqa: N802
            """Keep all outputs as they are, ready to go on."""
            self._command("Hold")

        def Reset(self) -> None:  # noqa: N802
            """Leave the state FAULT, after having looked why."""
            self._command("Reset")

    Ringmaster.__name__ = Ringmaster.TangoClassName = name
    return Ringmaster
