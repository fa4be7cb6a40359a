// SPDX-License-Identifier: Apache-2.0
/** Virtual instruments, and the groups in which they send: what makes a receiver recognise them. */
#ifndef RM_INSTRUMENTS_VIRTUAL_INSTRUMENT_H
#define RM_INSTRUMENTS_VIRTUAL_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "format/format.h"

enum {
    /** With its terminating zero. */
    RM_VIRTUAL_NAME_BYTES = 25,
    /** Networks that the same datagrams may go through: a, and its mirror b. */
    RM_NETWORKS = 2,
};

/** True for names that a server's configuration takes too: 1 to 24 characters of a–z, 0–9, _ and -. */
static inline bool rm_virtual_name_is_good(char const *name) {
    size_t const length = strlen(name);
    return length >= 1 && length < RM_VIRTUAL_NAME_BYTES &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

struct rm_virtual_instrument {
    /** Name, for example "bpm01". */
    char name[RM_VIRTUAL_NAME_BYTES];
    /** enum rm_instrument_kind. */
    uint8_t kind;
    /** Unique per source address. */
    uint16_t id;
    /** The instrument's own status, where its format has one. */
    uint16_t status;
    /** Source address, in host byte order. */
    uint32_t source_ipv4;
    /** Lanes of native datagrams, 1–RM_LANES. */
    uint32_t lane_count;
    /** Turns by which its counter is ahead of the true turn. */
    int64_t turn_error;
    /** Turns of these that machine.errors.bpm_turn_shift has drawn. */
    int64_t drawn_shift_turns;
};

/** Consecutive instruments whose readings leave in one datagram: one instrument, or as many as a format takes. */
struct rm_virtual_group {
    /** Name of its counters and faults. */
    char name[RM_VIRTUAL_NAME_BYTES];
    /** Index of its first instrument. */
    uint32_t first;
    /** Number of instruments, at least 1. */
    uint32_t count;

    uint32_t source_ipv4[RM_NETWORKS];
    /** Indices of the ring's ports. */
    uint32_t port[RM_NETWORKS];
    /** Turns from one reading to the next, at least 1. */
    uint32_t period_turns;
    /** Constant; it lives as long as the group. */
    struct rm_format const *format;
};

/** Turns in one datagram. */
static inline uint32_t rm_virtual_group_turns(struct rm_virtual_group const *group) {
    return group->format->layout == NULL ? 1 : rm_layout_described(group->format->layout)->turn_count;
}

#endif
