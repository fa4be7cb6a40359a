// SPDX-License-Identifier: Apache-2.0
/** What a ring's overlay says of chains and supplies, as libcyaml loads it; absent keys are NULL. ring_chains.c makes
 * sense of it. */
#ifndef RM_INSTRUMENTS_RING_SUPPLIES_FILE_H
#define RM_INSTRUMENTS_RING_SUPPLIES_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"
#include "chain_faults.h"

struct rm_ring_file_ripple {
    double hz, amplitude;
};

/* Supplies of one kind. */
struct rm_ring_file_supply {
    char *supplies;
    double *bandwidth_hz, *delay_us, *resolution, *slew, *noise, *regulation_hz, *drift_ppm;
    double *initial, *safe, *safe_slew;
    double *range;
    uint32_t range_count;
    struct rm_ring_file_ripple *ripple;
    uint32_t ripple_count;
};

enum rm_ring_file_stop { RM_RING_FILE_HOLD, RM_RING_FILE_RAMP };

struct rm_ring_file_chain {
    char *name;
    double *timeout_ms;
    enum rm_ring_file_stop *stop;
    bool *mirror;
};

struct rm_ring_file_chain_fault {
    char *chain;
    enum rm_chain_fault_kind fault;
    uint32_t *supply;
    double *from_s, *for_s, *probability, *limit;
    uint16_t *id;
};

struct rm_ring_file_response {
    char *supply;
    char *instrument;
    char *lane;
    double per_unit;
};

extern cyaml_schema_value_t const rm_ring_chain_schema, rm_ring_supply_schema, rm_ring_chain_fault_schema,
    rm_ring_response_schema;

/** A fault's name in the file, for example "trip". */
char const *rm_ring_chain_fault_name(enum rm_chain_fault_kind kind);

#endif
