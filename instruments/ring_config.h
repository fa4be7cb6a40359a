// SPDX-License-Identifier: Apache-2.0
/** A virtual ring as its YAML file describes it; docs/virtual-ring.md has all keys. Cold path. */
#ifndef RM_INSTRUMENTS_RING_CONFIG_H
#define RM_INSTRUMENTS_RING_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "faults.h"
#include "motion.h"
#include "net/port.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

enum {
    RM_RING_INSTRUMENTS_MAX = 1024,
    RM_RING_FAULTS_MAX = 1024,
    RM_RING_ANY_CORE = -1,
    RM_RING_ALL = -1,
};

/** A fault and whom it befalls. */
struct rm_ring_fault {
    int32_t instrument; /**< index, or RM_RING_ALL */
    struct rm_fault fault;
};

struct rm_ring_config {
    char workspace[RM_OWNER_BYTES]; /**< where the ring publishes its segment; empty: nowhere */
    rm_turn first_turn;
    int32_t core;               /**< CPU to run on, or RM_RING_ANY_CORE */
    struct rm_port_config port; /**< of kind udp: bind_ipv4 is each instrument's own */
    struct rm_flow flow;        /**< where to; the source address is each instrument's own */
    bool udp_checksum;
    struct rm_beam_config beam;
    struct rm_virtual_instrument *instruments;
    uint32_t instrument_count;
    struct rm_ring_fault *faults;
    uint32_t fault_count;
};

/** Reads and checks a file. Errors name file, line, column and what was expected: RM_E_CONFIG, RM_E_SYSTEM. */
enum rm_code rm_ring_config_load(char const *path, struct rm_ring_config *config, struct rm_error *error);

/** Where datagrams go when nobody says: 10.20.255.1, UDP port 4660, a MAC that is nobody's. */
void rm_ring_flow_default(struct rm_flow *flow);

/** Frees what loading allocated. */
void rm_ring_config_free(struct rm_ring_config *config);

#endif
