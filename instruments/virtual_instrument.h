// SPDX-License-Identifier: Apache-2.0
/** One virtual instrument's identity: what a receiver tells it by. */
#ifndef RM_INSTRUMENTS_VIRTUAL_INSTRUMENT_H
#define RM_INSTRUMENTS_VIRTUAL_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RM_VIRTUAL_NAME_BYTES = 25 /**< with its terminating zero */ };

/** True for names that a server's configuration takes too: 1 to 24 characters of a–z, 0–9, _ and -. */
static inline bool rm_virtual_name_is_good(char const *name) {
    size_t const length = strlen(name);
    return length >= 1 && length < RM_VIRTUAL_NAME_BYTES &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

struct rm_virtual_instrument {
    char name[RM_VIRTUAL_NAME_BYTES]; /**< "bpm01" */
    uint8_t kind;                     /**< enum rm_instrument_kind */
    uint16_t id;                      /**< unique per source address */
    uint32_t source_ipv4;             /**< host byte order */
    uint32_t lane_count;              /**< 1–RM_LANES */
};

#endif
