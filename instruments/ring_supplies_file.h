// SPDX-License-Identifier: Apache-2.0
/** The key `supplies` of a ring's file as libcyaml loads it; absent keys are NULL. ring_chains.c makes sense of it. */
#ifndef RM_INSTRUMENTS_RING_SUPPLIES_FILE_H
#define RM_INSTRUMENTS_RING_SUPPLIES_FILE_H

#include <stdint.h>

#include "base/yaml.h"
#include "chain_faults.h"

struct rm_ring_file_port;

struct rm_ring_file_ripple {
    double hz, amplitude;
};

/* Supplies of one kind, which stand together in their chain. */
struct rm_ring_file_supply {
    uint32_t *count;
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
    uint32_t *count;
    uint16_t id;
    char *port; /* NULL: that of all chains, or the first */
    char *address;
    char *mac;
    uint16_t *udp_port;
    double *timeout_ms;
    enum rm_ring_file_stop *stop;
    struct rm_ring_file_supply *supplies;
    uint32_t supplies_count;
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

struct rm_ring_file_supplies {
    struct rm_ring_file_port *port;
    uint16_t *udp_port;
    struct rm_ring_file_chain *chains;
    uint32_t chains_count;
    struct rm_ring_file_chain_fault *faults;
    uint32_t faults_count;
    struct rm_ring_file_response *responses;
    uint32_t responses_count;
};

extern cyaml_schema_field_t const rm_ring_supplies_fields[];

/** A fault's name in the file, "trip". */
char const *rm_ring_chain_fault_name(enum rm_chain_fault_kind kind);

#endif
