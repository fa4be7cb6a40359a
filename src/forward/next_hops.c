// SPDX-License-Identifier: Apache-2.0
#include "forward/next_hops.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/large_pages.h"

enum { HASHES = 16384 };

#define HOPS_BYTES (RM_NEXT_HOPS_MAX * sizeof(struct rm_next_hop))

static void next_hops_fix(struct rm_next_hops *hops, uint32_t hop, enum rm_hop_state state) {
    hops->hop[hop] = (struct rm_next_hop){.interface = RM_INTERFACE_NONE, .holders = 1};
    rm_hop_forget(&hops->hop[hop], state);
}

bool rm_next_hops_make(struct rm_next_hops *hops) {
    hops->hop = rm_large_pages_map(HOPS_BYTES);
    hops->next = calloc(RM_NEXT_HOPS_MAX, sizeof *hops->next);
    hops->first = calloc(HASHES, sizeof *hops->first);
    if (hops->hop == NULL || hops->next == NULL || hops->first == NULL)
        return false;
    next_hops_fix(hops, RM_HOP_NO_ROUTE, RM_HOP_STATE_NO_ROUTE);
    next_hops_fix(hops, RM_HOP_LOCAL, RM_HOP_STATE_LOCAL);
    next_hops_fix(hops, RM_HOP_BLACKHOLE, RM_HOP_STATE_BLACKHOLE);
    next_hops_fix(hops, RM_HOP_UNREACHABLE, RM_HOP_STATE_UNREACHABLE);
    next_hops_fix(hops, RM_HOP_PROHIBITED, RM_HOP_STATE_PROHIBITED);
    hops->used = RM_HOPS_FIXED;
    return true;
}

void rm_next_hops_free(struct rm_next_hops *hops) {
    if (hops->hop != NULL)
        munmap(hops->hop, rm_large_pages_bytes(HOPS_BYTES));
    free(hops->next);
    free(hops->first);
}

static bool same_address(struct rm_ip const *a, struct rm_ip const *b) {
    return a->ipv6 == b->ipv6 && memcmp(a->byte, b->byte, sizeof a->byte) == 0;
}

static uint32_t next_hop_hash(uint16_t interface, struct rm_ip const *gateway) {
    uint64_t words[2];
    memcpy(words, gateway->byte, sizeof words);
    uint64_t const mixed = (words[0] + words[1] * 0x9E3779B97F4A7C15u + interface) * 0xC2B2AE3D27D4EB4Fu;
    return (uint32_t)(mixed >> 50) % HASHES;
}

static uint32_t free_next_hop(struct rm_next_hops *hops) {
    uint32_t const freed = hops->free;
    if (freed != 0)
        hops->free = hops->next[freed];
    else if (hops->used < RM_NEXT_HOPS_MAX)
        return hops->used++;
    return freed;
}

uint32_t rm_next_hops_take(struct rm_next_hops *hops, uint16_t interface, struct rm_interface const *leaves_by,
                           struct rm_ip const *gateway) {
    uint16_t *const first = &hops->first[next_hop_hash(interface, gateway)];
    for (uint32_t hop = *first; hop != 0; hop = hops->next[hop])
        if (hops->hop[hop].interface == interface && same_address(&hops->hop[hop].gateway, gateway)) {
            ++hops->hop[hop].holders;
            return hop;
        }
    uint32_t const hop = free_next_hop(hops);
    if (hop == 0)
        return 0;
    hops->next[hop] = *first;
    *first = (uint16_t)hop;
    hops->hop[hop] = (struct rm_next_hop){.mtu = leaves_by->mtu,
                                          .interface = interface,
                                          .port = leaves_by->port,
                                          .vlan = leaves_by->vlan,
                                          .gateway = *gateway,
                                          .holders = 1};
    memcpy(hops->hop[hop].source_mac, leaves_by->mac, sizeof leaves_by->mac);
    rm_hop_forget(&hops->hop[hop], RM_HOP_STATE_UNRESOLVED);
    return hop;
}

void rm_next_hops_hold(struct rm_next_hops *hops, uint32_t hop) { ++hops->hop[hop].holders; }

void rm_next_hops_drop(struct rm_next_hops *hops, uint32_t hop) {
    struct rm_next_hop *const gone = &hops->hop[hop];
    if (hop < RM_HOPS_FIXED || --gone->holders != 0)
        return;
    uint16_t *at = &hops->first[next_hop_hash(gone->interface, &gone->gateway)];
    while (*at != hop)
        at = &hops->next[*at];
    *at = hops->next[hop];
    hops->next[hop] = hops->free;
    hops->free = (uint16_t)hop;
    gone->interface = RM_INTERFACE_NONE;
}

void rm_next_hops_set_mtu(struct rm_next_hops *hops, uint16_t interface, uint32_t mtu) {
    for (uint32_t hop = RM_HOPS_FIXED; hop < hops->used; ++hop)
        if (hops->hop[hop].interface == interface)
            atomic_store_explicit(&hops->hop[hop].mtu, mtu, memory_order_relaxed);
}
