// SPDX-License-Identifier: Apache-2.0
/** The chains of virtual supplies of a ring. */
#ifndef RM_INSTRUMENTS_RING_SUPPLIES_H
#define RM_INSTRUMENTS_RING_SUPPLIES_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"
#include "net/port.h"
#include "virtual_instrument.h"

enum {
    /** In the file. */
    RM_RING_CHAIN_FAULTS_MAX = 256,
    RM_RING_RESPONSES_MAX = 1024,
};

/** A chain and where it is. */
struct rm_ring_chain {
    /** "c01". */
    char name[RM_VIRTUAL_NAME_BYTES];
    /** Of the configuration's entry, "c". */
    char entry[RM_VIRTUAL_NAME_BYTES];
    /** Host byte order. */
    uint32_t ipv4;
    uint8_t mac[6];
    /** Of the ring's; setpoints that come by another are not for it. */
    uint32_t port;
    /** Setpoints arrive at it, and answers come from it. */
    uint16_t udp_port;
    /** UDP port that answers go to. */
    uint16_t answer_port;
    /** False: it obeys and says nothing. */
    bool answers;
    /** Supply, in the order of all. */
    uint32_t first;
    struct rm_chain_config config;
};

/** A fault and the chains that it befalls, which are consecutive. */
struct rm_ring_chain_fault {
    uint32_t first_chain, chain_count;
    struct rm_chain_fault fault;
};

/** By so much does a lane of an instrument follow a supply's current. */
struct rm_ring_response {
    /** In the order of all. */
    uint32_t supply;
    uint32_t instrument;
    uint32_t lane;
    double per_unit;
};

struct rm_ring_supplies {
    struct rm_ring_chain *chains;
    uint32_t chain_count;
    /** Of all chains. */
    struct rm_supply_config *supplies;
    uint32_t supply_count;
    struct rm_ring_chain_fault *faults;
    uint32_t fault_count;
    /** In the order of their instruments. */
    struct rm_ring_response *responses;
    uint32_t response_count;
};

#endif
