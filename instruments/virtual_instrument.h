// SPDX-License-Identifier: Apache-2.0
/** One virtual instrument's identity: what a receiver tells it by. */
#ifndef RM_INSTRUMENTS_VIRTUAL_INSTRUMENT_H
#define RM_INSTRUMENTS_VIRTUAL_INSTRUMENT_H

#include <stdint.h>

enum { RM_VIRTUAL_NAME_BYTES = 24 /**< with its terminating zero */ };

struct rm_virtual_instrument {
    char name[RM_VIRTUAL_NAME_BYTES]; /**< "bpm01" */
    uint8_t kind;                     /**< enum rm_instrument_kind */
    uint16_t id;                      /**< unique per source address */
    uint32_t source_ipv4;             /**< host byte order */
    uint32_t lane_count;              /**< 1–RM_LANES */
};

#endif
