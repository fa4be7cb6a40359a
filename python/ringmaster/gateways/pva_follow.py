# SPDX-License-Identifier: Apache-2.0
"""PVs that follow their parameters without Python: gateways/pva/follow.cpp reads what has changed and posts it.

It does so for numbers without alarm, which are nearly all updates there are. The names that a look leaves over are told
as all others are. Where the library is not built, none follows, and an update takes twice the time.
"""

import ctypes
from collections.abc import Set
from typing import Any

from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.parameter import Parameter
from ringmaster.gateways.pva_values import CODES
from ringmaster.places import find_library
from ringmaster.values.time_format import tai_minus_utc_s

NAME = "libringmaster-pva.so"
UNWRAP = "_Z15SharedPV_unwrapP7_object"
"""Of p4p's module: the PV of pvxs in one of p4p's."""


class _Place(ctypes.Structure):
    """As struct place has it."""

    _fields_ = (
        ("parameter", ctypes.c_void_p),
        ("sequence", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("code", ctypes.c_char),
        ("is_choice", ctypes.c_bool),
    )


class Followers:
    """Those that there are, by name. For the holder of the gateway's lock."""

    def __init__(self) -> None:
        """Raises OSError where the library is not built, or for another pvxs; AttributeError for another p4p."""
        from p4p import _p4p

        path = find_library(NAME)
        self._calls, calls_with_gil = ctypes.CDLL(path), ctypes.PyDLL(path)
        self._unwrap = ctypes.cast(getattr(ctypes.PyDLL(_p4p.__file__), UNWRAP), ctypes.c_void_p)
        self._copy = int(ffi.cast("uintptr_t", ffi.addressof(lib, "rm_parameter_copy")))
        self._calls.rm_pva_reading_bytes.restype = ctypes.c_size_t
        if self._calls.rm_pva_reading_bytes() != ffi.sizeof("struct rm_parameter_reading"):
            raise OSError(f"{path} is of another version; build it anew with `make gateways`")
        self._new = calls_with_gil.rm_pva_follower_new
        self._new.restype = ctypes.c_void_p
        self._new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.POINTER(_Place))
        self._look = self._calls.rm_pva_look
        self._look.restype = ctypes.c_size_t
        self._calls.rm_pva_follower_has.restype = ctypes.c_bool
        self._followers: dict[str, tuple[int, Parameter]] = {}
        """Each with its parameter, whose memory stays mapped so long."""
        self._all: Any = None
        """The same as an array; None when others have come or gone."""

    @property
    def names(self) -> Set[str]:
        """Of the PVs that follow."""
        return self._followers.keys()

    def add(self, name: str, pv: Any, parameter: Parameter, is_choice: bool) -> None:
        """A PV follows from when it is ``told`` on."""
        self.remove(name)
        place = _Place(
            *parameter.addresses,
            parameter.dtype.itemsize * parameter.count,
            parameter.count,
            CODES[parameter.dtype.str[1:]].encode(),
            is_choice,
        )
        made = self._new(self._unwrap, pv, place)
        if made:
            self._followers[name] = (made, parameter)
            self._all = None

    def remove(self, name: str) -> None:
        """It follows no longer."""
        if name in self._followers:
            follower, _ = self._followers.pop(name)
            self._calls.rm_pva_follower_free(ctypes.c_void_p(follower))
            self._all = None

    def clear(self) -> None:
        """None follows."""
        for name in tuple(self._followers):
            self.remove(name)

    def told(self, name: str, changes: int, plain: bool) -> None:
        """Of one that follows: Python has posted this change, and whether it is a value without alarm."""
        if name in self._followers:
            follower, _ = self._followers[name]
            self._calls.rm_pva_follower_told(ctypes.c_void_p(follower), ctypes.c_uint64(changes), plain)

    def has(self, name: str, changes: int) -> bool:
        """Whether the clients of one that follows have this change already, as a value without alarm."""
        if name not in self._followers:
            return False
        follower, _ = self._followers[name]
        return bool(self._calls.rm_pva_follower_has(ctypes.c_void_p(follower), ctypes.c_uint64(changes)))

    def look(self) -> list[str]:
        """Posts what has changed. Returns the names of what Python is to tell."""
        count = len(self._followers)
        if self._all is None:
            self._names = list(self._followers)
            self._all = (ctypes.c_void_p * count)(*(follower for follower, _ in self._followers.values()))
            self._left = (ctypes.c_uint32 * count)()
        offset_ns = ctypes.c_uint64(tai_minus_utc_s() * 10**9)
        found = self._look(self._all, ctypes.c_size_t(count), ctypes.c_void_p(self._copy), offset_ns, self._left)
        return [self._names[number] for number in self._left[:found]]
