// SPDX-License-Identifier: Apache-2.0
/* Made from src/fabric/counters.toml by tools/generate_counters.py: change it there. */
#include "fabric/counter_names.h"

// clang-format off

static char const *const port_names[] = {
    "received",
    "decoded",
    "not_ipv4",
    "not_udp",
    "not_our_port",
    "fragment",
    "truncated",
    "bad_ip_header",
    "bad_udp_checksum",
    "too_short",
    "too_long",
    "bad_length",
    "bad_magic",
    "unknown_version",
    "unknown_kind",
    "unknown_instrument",
    "unknown_source",
    "wrong_kind",
    "wrong_lanes",
    "kernel_missed",
    "bytes",
    "wrong_vlan",
    "bad_fragment",
    "reassembled",
    "fragment_expired",
    "records",
    "unknown_record",
    "punted",
    "punt_full",
    "answered",
    "to_kernel",
    "from_kernel",
    "kernel_full",
    "spread_full",
    "unfinished_checksum",
    "repeated_id",
};

static char const *const stream_names[] = {
    "accepted",
    "out_of_order",
    "duplicate",
    "turn_ahead",
    "turn_behind",
    "skipped",
    "turn_epochs",
    "fast_missing",
    "mirrored",
    "unanchored",
    "phase_behind",
    "phase_ahead",
    "turn_out_of_range",
};

static char const *const path_names[] = {
    "received",
    "first",
    "second",
    "duplicate",
    "lost",
};

static char const *const core_names[] = {
    "core",
    "loops",
    "busy_loops",
    "busy_ticks",
    "idle_ticks",
    "longest_gap_ticks",
    "bursts",
    "packets",
    "wait_ticks",
    "wait_ns",
    "longest_wait_ns",
    "target_packets",
};

static char const *const clock_names[] = {
    "anchors",
    "quorum_votes",
    "quorum_needed",
    "streams_live",
    "phase_limit",
};

static char const *const sender_names[] = {
    "sent",
    "dropped",
    "duplicated",
    "reordered",
    "delayed",
    "corrupted",
    "truncated",
    "wrong_version",
    "turn_jumps",
    "turn_resets",
    "waits",
    "wait_ticks",
    "longest_wait_ticks",
    "turns",
    "behind_turns",
    "skipped_turns",
    "fragments_dropped",
    "fragments_duplicated",
    "fragments_overlapped",
    "fragments_reordered",
};

static char const *const guard_names[] = {
    "vectors",
    "overrun",
    "taken",
    "refused_grant",
    "refused_stale",
    "refused_future",
    "refused_number",
    "refused_low",
    "refused_high",
    "slew_limited",
    "refused_ownership",
    "refused_fault",
    "stalls",
    "restarts",
};

static char const *const chain_names[] = {
    "sent",
    "unsent",
    "queries",
    "answered",
    "unanswered",
    "wrong_answer",
    "old_generation",
    "misdirected",
    "gaps",
    "stopped",
    "lost",
    "trips",
    "saturations",
    "deviations",
};

static char const *const transmit_names[] = {
    "cycles",
    "skipped",
    "late",
    "led",
    "unanchored",
    "datagrams",
    "unsent",
    "latest_ticks",
};

static char const *const application_names[] = {
    "steps",
    "committed",
    "quiet",
    "late",
    "missing",
    "skipped",
    "settings",
    "refused",
    "grants",
    "longest_ticks",
    "lost",
};

static char const *const supply_names[] = {
    "received",
    "setpoints",
    "queries",
    "malformed",
    "misdirected",
    "old_generation",
    "gaps",
    "repeated",
    "answers",
    "stops",
    "trips",
    "saturations",
    "fault_lost",
    "fault_other",
};

static char const *const recorder_names[] = {
    "blocks",
    "bytes",
    "records",
    "missing",
    "lapped",
    "disk_full",
    "disk_slow",
    "disk_failed",
    "errors",
    "waits",
    "files",
    "deleted",
    "plain_bytes",
    "stored_bytes",
    "store_ns",
};

static char const *const generator_names[] = {
    "sent",
    "sent_bytes",
    "refused",
    "skipped",
    "late",
    "received",
    "received_bytes",
    "size_64",
    "size_127",
    "size_255",
    "size_511",
    "size_1023",
    "size_1518",
    "jumbo",
    "broadcast",
    "multicast",
    "arp",
    "icmp",
    "answered",
    "foreign",
    "stamped",
    "capture_lost",
    "broken",
};

static char const *const forward_names[] = {
    "received",
    "forwarded",
    "to_kernel",
    "waiting",
    "handoff_full",
    "ttl_expired",
    "no_route",
    "no_neighbour",
    "by_rule",
    "too_big",
    "bad_header",
    "truncated",
    "martian",
    "wrong_vlan",
    "not_ours",
    "same_port",
    "cut",
    "errors_sent",
    "errors_held",
    "sent",
    "out_full",
    "stations",
};

static char const *const router_names[] = {
    "handed",
    "to_kernel",
    "from_kernel",
    "answered",
    "unclaimed",
    "kernel_full",
    "out_full",
    "asked",
    "found",
    "not_found",
    "waited",
    "waiting_full",
    "kernel_dumps",
    "routes",
    "routes_known",
};

static struct {
    char const *const *name;
    unsigned count;
} const counter_sets[] = {
    [RM_COUNTER_SET_PORT] = {port_names, RM_PORT_COUNTERS},
    [RM_COUNTER_SET_STREAM] = {stream_names, RM_STREAM_COUNTERS},
    [RM_COUNTER_SET_PATH] = {path_names, RM_PATH_COUNTERS},
    [RM_COUNTER_SET_CORE] = {core_names, RM_CORE_COUNTERS},
    [RM_COUNTER_SET_CLOCK] = {clock_names, RM_CLOCK_COUNTERS},
    [RM_COUNTER_SET_SENDER] = {sender_names, RM_SENDER_COUNTERS},
    [RM_COUNTER_SET_GUARD] = {guard_names, RM_GUARD_COUNTERS},
    [RM_COUNTER_SET_CHAIN] = {chain_names, RM_CHAIN_COUNTERS},
    [RM_COUNTER_SET_TRANSMIT] = {transmit_names, RM_TRANSMIT_COUNTERS},
    [RM_COUNTER_SET_APPLICATION] = {application_names, RM_APPLICATION_COUNTERS},
    [RM_COUNTER_SET_SUPPLY] = {supply_names, RM_SUPPLY_COUNTERS},
    [RM_COUNTER_SET_RECORDER] = {recorder_names, RM_RECORDER_COUNTERS},
    [RM_COUNTER_SET_GENERATOR] = {generator_names, RM_GENERATOR_COUNTERS},
    [RM_COUNTER_SET_FORWARD] = {forward_names, RM_FORWARD_COUNTERS},
    [RM_COUNTER_SET_ROUTER] = {router_names, RM_ROUTER_COUNTERS},
};

// clang-format on

unsigned rm_counter_set_size(enum rm_counter_set_id set) {
    return set < sizeof counter_sets / sizeof counter_sets[0] ? counter_sets[set].count : 0;
}

char const *rm_counter_name(enum rm_counter_set_id set, unsigned index) { return counter_sets[set].name[index]; }
