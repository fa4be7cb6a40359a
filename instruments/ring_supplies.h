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
    /** Most faults in the file. */
    RM_RING_CHAIN_FAULTS_MAX = 256,
    RM_RING_RESPONSES_MAX = 1024,
};

/** A chain and where it is. */
struct rm_ring_chain {
    /** Name, for example "c01". */
    char name[RM_VIRTUAL_NAME_BYTES];
    /** Name of the configuration's entry, for example "c". */
    char entry[RM_VIRTUAL_NAME_BYTES];
    /** Address, in host byte order. */
    uint32_t ipv4;
    uint8_t mac[6];
    /** Index of the ring's port; setpoints that come by another port are not for it. */
    uint32_t port;
    /** UDP port at which setpoints arrive, and from which answers come. */
    uint16_t udp_port;
    /** UDP port that answers go to. */
    uint16_t answer_port;
    /** False: it obeys, and sends no answers. */
    bool answers;
    /** Answers go to the broadcast MAC: all on its network hear them. */
    bool mirror;
    /** Index of its first supply, among all supplies. */
    uint32_t first;
    struct rm_chain_config config;
};

/** A fault and the chains that it befalls, which are consecutive. */
struct rm_ring_chain_fault {
    uint32_t first_chain, chain_count;
    struct rm_chain_fault fault;
};

/** By how much a lane of an instrument follows a supply's current. */
struct rm_ring_response {
    /** Index among all supplies. */
    uint32_t supply;
    uint32_t instrument;
    uint32_t lane;
    double per_unit;
};

struct rm_ring_supplies {
    struct rm_ring_chain *chains;
    uint32_t chain_count;
    /** Supplies of all chains. */
    struct rm_supply_config *supplies;
    uint32_t supply_count;
    /** [supply] its index in the configuration, which has its name. */
    uint32_t *described;
    /** [supply] what a server may send it by the configuration; NULL: nobody judges that. */
    struct rm_chain_judge_limits *limits;
    /** Of the cycles of setpoints. */
    uint64_t period_turns;
    double cycle_s;
    struct rm_ring_chain_fault *faults;
    uint32_t fault_count;
    /** In the order of their instruments. */
    struct rm_ring_response *responses;
    uint32_t response_count;
};

#endif
