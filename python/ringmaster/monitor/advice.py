# SPDX-License-Identifier: Apache-2.0
"""Which counters should be zero, and what to do when one is not."""

_SENDER = "Compare a captured datagram with the format byte by byte (docs/native-format.md, `tshark -x`)."
_CABLE = "Look for a bad cable, transceiver or switch port on the way: its own error counters say which."
_CONFIG = "Correct the instrument's entry in the configuration, or the instrument's own settings."
_LIMIT = (
    "It wants more than the supply may: its own limits should be tighter than the guard's. Its page names the supply."
)
_LATE_ROW = "Is its core its own? `freshness_turns` says how old they may be."
_ROOM = "Give the receive role a core of its own, or more cores to the port; see the page of cores."

ADVICE: dict[tuple[str, str], tuple[bool, str]] = {
    ("port", "kernel_missed"): (True, f"The server did not fetch packets in time. {_ROOM}"),
    ("port", "spread_full"): (True, f"One role cannot keep up with its share. {_ROOM}"),
    ("port", "fragment_expired"): (
        True,
        f"Fragments are lost on the way. {_CABLE} Better: send unfragmented, by MTU 9000.",
    ),
    ("port", "bad_fragment"): (
        True,
        "Two senders use one address, or a sender forges fragments: find it.",
    ),
    ("port", "truncated"): (True, f"{_CABLE} A capture cut by its snap length looks the same."),
    ("port", "bad_ip_header"): (True, f"The sender writes a wrong header or checksum. {_SENDER}"),
    ("port", "unfinished_checksum"): (
        True,
        "A sender on this host (a container, a virtual machine, a veth link) left the checksum to hardware: set "
        "`local_senders: true` of the port, or `ethtool -K INTERFACE tx off` at the sender.",
    ),
    ("port", "repeated_id"): (
        True,
        "All entries of a datagram have one id. Of Libera Grouping this is the other variant: exchange "
        "`libera_grouping` and `libera_grouping_counter_first`. Else two units have one id.",
    ),
    ("port", "bad_udp_checksum"): (True, f"{_CABLE} Or the sender computes it wrongly: zero means that there is none."),
    ("port", "too_short"): (True, f"The sender and the configured format do not agree. {_SENDER}"),
    ("port", "too_long"): (True, f"The sender and the configured format do not agree. {_SENDER}"),
    ("port", "bad_length"): (True, f"The sender and the configured format do not agree. {_SENDER}"),
    ("port", "bad_magic"): (True, f"Something else sends to this UDP port, or the format is another. {_SENDER}"),
    ("port", "unknown_version"): (
        True,
        "The instrument is newer than this server: update the server, or the instrument.",
    ),
    ("port", "unknown_kind"): (True, f"The instrument says that it is of no known kind. {_SENDER}"),
    ("port", "unknown_instrument"): (True, f"An instrument sends that is not in the configuration. {_CONFIG}"),
    ("port", "unknown_source"): (True, f"The id is configured, with another address. {_CONFIG}"),
    ("port", "wrong_kind"): (True, f"The configuration says another kind than the instrument. {_CONFIG}"),
    ("port", "wrong_lanes"): (True, f"The configuration says another number of lanes than the instrument. {_CONFIG}"),
    ("port", "unknown_record"): (True, f"A grouped datagram holds an instrument that is not configured. {_CONFIG}"),
    ("port", "wrong_vlan"): (False, "Correct the port's `vlan`, or keep that VLAN away from the switch port."),
    ("port", "punt_full"): (
        False,
        "The network brings more other traffic than the exception path takes: keep it away.",
    ),
    ("port", "kernel_full"): (
        False,
        "The kernel is slower than its share of the traffic: look for a flood, or a busy CPU.",
    ),
    ("stream", "turn_ahead"): (
        True,
        "Its turn counter is not the ring's: set its `turn_offset`, and look at its timing input.",
    ),
    ("stream", "turn_behind"): (
        True,
        "Its turn counter is not the ring's: set its `turn_offset`, and look at its timing input.",
    ),
    ("stream", "turn_out_of_range"): (
        True,
        "No machine counts that far: correct its `turn_offset`, or the counter's field in its format.",
    ),
    ("stream", "unanchored"): (
        True,
        "Normal at the start. If it goes on, no instrument with a whole counter sets the clock.",
    ),
    ("stream", "duplicate"): (False, "A switch or the sender doubles packets: look for a loop or a mirror port."),
    ("stream", "out_of_order"): (
        False,
        "The network reorders or delays: look for several paths, or a queue that fills.",
    ),
    ("stream", "turn_epochs"): (False, "The machine's turn counter restarted: normal after work on the timing system."),
    ("path", "lost"): (False, f"This network loses, the other still brings the data. {_CABLE}"),
    ("path", "duplicate"): (False, "A switch of this network doubles packets: look for a loop or a mirror port."),
    ("guard", "stalls"): (
        True,
        "Its supplies did what `stop` says. Is its process alive, its core its own, its step short enough?",
    ),
    ("guard", "refused_grant"): (
        False,
        "Rows of an instance that is no longer the granted one: does an older one still run?",
    ),
    ("guard", "refused_stale"): (False, f"It answers turns that are long past. {_LATE_ROW}"),
    ("guard", "refused_future"): (
        False,
        "It answers turns that have not been: it reads another machine's streams, or counts wrongly.",
    ),
    ("guard", "refused_number"): (
        True,
        "It divides by zero, or works with a record that is missing. Its page names the supply.",
    ),
    ("guard", "refused_low"): (True, f"{_LIMIT}"),
    ("guard", "refused_high"): (True, f"{_LIMIT}"),
    ("guard", "refused_ownership"): (
        False,
        "Stop the application first, or give the supply to the operator in the configuration.",
    ),
    ("guard", "refused_fault"): (False, "See the page of supplies: reset what has tripped, or mend the chain."),
    ("chain", "unsent"): (True, "The link to the supplies is down or full: see the page of links."),
    ("chain", "unanswered"): (False, f"Answers were lost or came too late. {_CABLE}"),
    ("chain", "wrong_answer"): (
        True,
        "Another chain answers with this one's address and id, or an old answer came late: look for a doubled address.",
    ),
    ("chain", "old_term"): (True, "Another server sends to this chain: stop it."),
    ("chain", "misdirected"): (
        True,
        "It was sent another chain's datagram, or one of another length: compare `chains` with the controller.",
    ),
    ("chain", "gaps"): (False, f"Setpoints were lost on their way. {_CABLE}"),
    ("chain", "stopped"): (
        False,
        "It had no setpoints for its time-out: the server stood still, or the link was down.",
    ),
    ("chain", "lost"): (True, f"It did not answer at all for a while. Is it on? {_CABLE}"),
    ("chain", "trips"): (True, "A supply has switched itself off: its own display says why. Reset it there."),
    ("chain", "saturations"): (False, "A supply is at the end of what it can: voltage, current or slew."),
    ("chain", "deviations"): (
        False,
        "A supply does not reach its setpoint: its tolerance or its time to settle is too tight, or it is ill.",
    ),
    ("transmit", "skipped"): (
        False,
        "The transmit role came a whole period too late: give it a core of its own.",
    ),
    ("transmit", "unsent"): (True, "A port did not take setpoints: the link is down or full."),
    ("application", "late"): (
        False,
        "Steps began without all inputs: see which instrument is silent on the page of streams.",
    ),
    ("application", "skipped"): (False, "A step takes longer than its period: make it cheaper, or its period longer."),
    ("standby", "takeovers"): (
        False,
        "The other server was silent: look at its host and what it said last, then `ringmaster standby acknowledge`.",
    ),
    ("standby", "begins"): (
        False,
        "Chains had no server, as at the first start. Else both were away: look at both, and why they did not follow.",
    ),
    ("standby", "depositions"): (
        False,
        "Chains obey the other server: this one was stopped, or cut off from them. Look at its host and its network.",
    ),
    ("standby", "unconfirmed"): (
        False,
        f"Most chains did not answer, so it stopped sending: their network, or its way to it, is down. {_CABLE}",
    ),
    ("standby", "raised"): (
        False,
        "Some chains had heard of a higher term, and were taken back: look at the cables between them and the servers.",
    ),
    ("standby", "refused_orders"): (
        False,
        "`ringmaster standby run` does not run beside this server, or it hangs: without it there is no READY standby.",
    ),
    ("standby", "lagged"): (
        False,
        "The link comes later than a cycle: give `ringmaster standby run` a core that is not shared, or a faster link.",
    ),
    ("standby", "term_unsaved"): (
        False,
        "The file `setpoints.terms` cannot be written: is its disk full or read-only? Until then the chains remember.",
    ),
    ("link", "bad_length"): (
        False,
        "Something else sends to the link's UDP port: it should have a network of its own.",
    ),
    ("link", "bad_version"): (
        False,
        "Something else sends to the link's port, or the builds are further apart than one version: update the older.",
    ),
    ("link", "bad_key"): (
        False,
        "The servers have different keys, or a stranger sends: compare the files of `standby.key` by their checksums.",
    ),
    ("link", "refused"): (False, "A third server, or a copy of old traffic, uses the link's addresses: find it."),
    ("link", "lost"): (False, f"The link loses datagrams; what they held was sent again. {_CABLE}"),
    ("link", "full"): (False, "The link does not take what is sent: is it up, and is it 1 Gb/s or more?"),
    ("follow", "differences"): (
        False,
        "The servers came to other bits: another build, another processor, or bad memory. `ringmaster standby hold` "
        "takes the one out that is in doubt.",
    ),
    ("follow", "inputs_missing"): (
        False,
        f"The standby lacks datagrams that the active server had: the mirror, or its own network, loses. {_CABLE}",
    ),
    ("clock", "quorum_votes"): (
        False,
        "These instruments count turns otherwise. Their `refused` on the page of streams says which.",
    ),
}
"""Of each counter that should be zero, whether data is lost by it, and what to do."""

_TOGETHER = (
    "It came to most instruments at once, so it is not their timing. Look at the host and the sender: did the server's "
    "core stand still (page of cores, longest gap), did the sender, or was the machine's turn counter set anew?"
)
TOGETHER: dict[tuple[str, str], str] = {
    ("stream", "turn_ahead"): _TOGETHER,
    ("stream", "turn_behind"): _TOGETHER,
}
"""Advice where most instruments had turns refused."""

DERIVED: dict[str, tuple[str, bool, str, str]] = {
    "lost": (
        "instrument",
        True,
        "turns that were skipped and did not come after all: the data has holes there, which readers see",
        f"If its port missed packets, see there. Else they were lost on the way. {_CABLE}",
    ),
    "silent": (
        "instrument",
        True,
        "nothing came from it between the last two looks",
        "Is it on, and its link up? `tshark` at the switch tells whether it sends; then compare address and id.",
    ),
    "phase_turns": (
        "instrument",
        True,
        "its records carry other turns than those of most instruments that came at the same time",
        "Its turn counter, or its timing input, is off: set its `turn_offset` by `ringmaster align`, which tells "
        "single turns apart. Where it is only late by design, `turn_window.phase_turns` is the limit.",
    ),
    "busy": (
        "core",
        False,
        "it works nearly all the time: the next stall may cost packets",
        "Move a role to another core: `core` in `roles` of the configuration, then `ringmaster reload` of it.",
    ),
    "not_ready": (
        "standby",
        False,
        "no other server could take over: if this one ends, the setpoints stop",
        "`ringmaster standby why` says what keeps the standby from READY, and what to do.",
    ),
    "behind_turns": (
        "sender",
        False,
        "this virtual instrument sends more slowly than it was told",
        "The machine does not carry the rate: lower `turn_rate_hz` of the virtual ring. Nothing is lost by it.",
    ),
}
"""What is made of several counters: the object's kind, whether data is lost, what it means, what to do."""
