// SPDX-License-Identifier: Apache-2.0
#include "members.h"

#include <stdlib.h>

#include "base/fail.h"
#include "noise.h"

/** Seeds the draws of a fault. What befalls both networks strikes the same datagrams of both. */
static uint64_t fault_key(struct rm_ring_config const *ring, uint32_t fault, uint32_t group) {
    uint64_t const own = (uint64_t)(ring->faults[fault].network + 1) << 32 | fault;
    return rm_noise_u64(rm_noise_u64(ring->beam.seed ^ rm_noise_u64((uint64_t)group + 1)) + own);
}

/** The faults of one group on one network. */
static uint32_t find_faults(struct rm_ring_config const *ring, uint32_t group, uint32_t network,
                            struct rm_fault *faults) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < ring->fault_count; ++f) {
        struct rm_ring_fault const *from = &ring->faults[f];
        bool const here = from->network == RM_RING_BOTH_NETWORKS || from->network == (int32_t)network;
        if (!here || group - from->first_group >= from->group_count)
            continue;
        faults[count] = from->fault;
        faults[count++].key = fault_key(ring, f, group);
    }
    return count;
}

enum rm_code rm_members_make(struct rm_ring_config const *ring, rm_counter *const *counters, struct rm_members *members,
                             struct rm_error *error) {
    size_t const outlets = (size_t)ring->group_count * ring->network_count;
    members->member = calloc(ring->group_count, sizeof *members->member);
    members->faults = calloc(outlets * ring->fault_count + 1, sizeof *members->faults);
    if (members->member == NULL || members->faults == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u instruments", ring->instrument_count);
    for (size_t o = 0; o < outlets; ++o) {
        uint32_t const group = (uint32_t)(o / ring->network_count), network = (uint32_t)(o % ring->network_count);
        struct rm_fault *faults = members->faults + o * ring->fault_count;
        members->member[group].group = &ring->groups[group];
        struct rm_ring_port const *port = &ring->ports[ring->groups[group].port[network]];
        members->member[group].outlet[network] = (struct rm_sender_outlet){
            .flow = port->flow,
            .mtu = port->mtu,
            .counters = counters[o],
            .faults = faults,
            .fault_count = find_faults(ring, group, network, faults),
        };
    }
    return RM_OK;
}

void rm_members_free(struct rm_members *members) {
    free(members->member);
    free(members->faults);
    *members = (struct rm_members){0};
}
