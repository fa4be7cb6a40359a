# SPDX-License-Identifier: Apache-2.0
"""What the processor can."""

from ringmaster.doctor.check import NEVER, SERVER_HINT, Answer, Check, Look, absent, bad, good, unknown


def vectors(look: Look) -> Answer:
    """AVX."""
    flags = look.host.flags
    if flags is None:
        return unknown()
    if "avx512f" in flags:
        return good("AVX-512")
    if {"avx2", "fma"} <= flags:
        return bad("AVX2", "AVX-512", by_hand="Another processor; a record is two registers of AVX2.")
    return bad("neither AVX2 nor AVX-512", "AVX-512", by_hand="Another processor: the filters run in plain C here.")


def wait_instructions(look: Look) -> Answer:
    """WAITPKG."""
    if look.host.flags is None:
        return unknown()
    if "waitpkg" not in look.host.flags:
        return absent("none: cores wait with PAUSE")
    return good("tpause, umwait")


CHECKS = (
    Check(
        "vectors",
        vectors,
        SERVER_HINT,
        "One record is one register of AVX-512: filters to 100 kHz and 10 Hz run in it.",
        "Elettra 2.0 paper, Test Facility: the AVX-512 vector units",
    ),
    Check(
        "waitpkg",
        wait_instructions,
        NEVER,
        "With it a polling core can rest between two packets without leaving its program.",
        "Elettra 2.0 paper, Test Facility: sleep cycles for the network cards",
    ),
)
