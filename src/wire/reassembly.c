// SPDX-License-Identifier: Apache-2.0
#include "wire/reassembly.h"

#include <stdlib.h>
#include <sys/random.h>

#include "wire/ipv4.h"
#include "wire/network_order.h"
#include "wire/unit_map.h"

#define NOWHERE UINT32_MAX

/** A datagram on its way to be whole; or a free one, whose `newer` is the next free one. */
struct slot {
    uint64_t addresses; /**< source and destination, in memory order */
    uint64_t label;     /**< identification and VLAN */
    uint64_t since_tsc;
    uint32_t in_bucket;    /**< the next of the same bucket */
    uint32_t older, newer; /**< by when the first fragment came */
    uint32_t received;     /**< bytes */
    uint32_t reach;        /**< end of the furthest fragment that has another behind it */
    uint32_t total;        /**< bytes, as the last fragment tells; 0 until it is here */
};

struct rm_reassembly {
    uint32_t longest;
    uint32_t data_stride;
    uint32_t map_words;
    uint64_t timeout_ticks;
    uint64_t secret[2];
    uint32_t bucket_mask;
    uint32_t free, oldest, newest;
    uint64_t given_up;
    uint32_t *bucket;
    struct slot *slot;
    uint64_t *map; /**< map_words of each slot */
    uint8_t *data; /**< data_stride of each slot */
};

/** A fragment. */
struct fragment {
    uint64_t addresses;
    uint64_t label;
    uint8_t const *bytes;
    uint32_t first, end; /**< its place in the datagram, bytes */
    bool more;           /**< it is not the last */
};

static uint32_t power_of_two_above(uint32_t value) { return 2u << (31 - __builtin_clz(value)); }

static void fill_free_list(struct rm_reassembly *made, uint32_t slots) {
    for (uint32_t i = 0; i < slots; ++i)
        made->slot[i].newer = i + 1 < slots ? i + 1 : NOWHERE;
    for (uint32_t i = 0; i <= made->bucket_mask; ++i)
        made->bucket[i] = NOWHERE;
    made->free = 0;
    made->oldest = made->newest = NOWHERE;
}

struct rm_reassembly *rm_reassembly_new(uint32_t slots, uint32_t longest, uint64_t timeout_ticks) {
    struct rm_reassembly *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->longest = longest;
    made->data_stride = (longest + 63) / 64 * 64;
    made->map_words = rm_unit_map_words(rm_units(longest));
    made->timeout_ticks = timeout_ticks;
    made->bucket_mask = power_of_two_above(slots) - 1;
    made->bucket = calloc(made->bucket_mask + 1ul, sizeof *made->bucket);
    made->slot = calloc(slots, sizeof *made->slot);
    made->map = calloc(slots, made->map_words * sizeof *made->map);
    made->data = calloc(slots, made->data_stride);
    bool const secret = getrandom(made->secret, sizeof made->secret, 0) == sizeof made->secret;
    if (!secret || made->bucket == NULL || made->slot == NULL || made->map == NULL || made->data == NULL) {
        rm_reassembly_free(made);
        return NULL;
    }
    fill_free_list(made, slots);
    return made;
}

void rm_reassembly_free(struct rm_reassembly *reassembly) {
    if (reassembly == NULL)
        return;
    free(reassembly->bucket);
    free(reassembly->slot);
    free(reassembly->map);
    free(reassembly->data);
    free(reassembly);
}

/** The head of the bucket of such a datagram. Both halves of a product with the secret in it: a sender that does not
 * know the secret cannot choose keys that meet in one bucket. */
static uint32_t *bucket_of(struct rm_reassembly *reassembly, uint64_t addresses, uint64_t label) {
    uint64_t const *const secret = reassembly->secret;
    unsigned __int128 const product =
        (unsigned __int128)(addresses ^ secret[0]) * (label * 0x9E3779B97F4A7C15u ^ secret[1]);
    return &reassembly->bucket[((uint64_t)product ^ (uint64_t)(product >> 64)) & reassembly->bucket_mask];
}

static uint32_t reassembly_find_datagram(struct rm_reassembly *reassembly, struct fragment const *piece) {
    uint32_t index = *bucket_of(reassembly, piece->addresses, piece->label);
    while (index != NOWHERE &&
           (reassembly->slot[index].addresses != piece->addresses || reassembly->slot[index].label != piece->label))
        index = reassembly->slot[index].in_bucket;
    return index;
}

/** Ends a datagram: out of its bucket, out of the order by age, into the free list. Its bytes stay for now. */
static void reassembly_finish_datagram(struct rm_reassembly *reassembly, uint32_t index) {
    struct slot *const slot = reassembly->slot;
    uint32_t *link = bucket_of(reassembly, slot[index].addresses, slot[index].label);
    while (*link != index)
        link = &slot[*link].in_bucket;
    *link = slot[index].in_bucket;

    uint32_t const older = slot[index].older, newer = slot[index].newer;
    *(older != NOWHERE ? &slot[older].newer : &reassembly->oldest) = newer;
    *(newer != NOWHERE ? &slot[newer].older : &reassembly->newest) = older;

    slot[index].newer = reassembly->free;
    reassembly->free = index;
}

static void give_up(struct rm_reassembly *reassembly, uint32_t index) {
    reassembly_finish_datagram(reassembly, index);
    ++reassembly->given_up;
}

static uint32_t reassembly_begin_datagram(struct rm_reassembly *reassembly, struct fragment const *piece,
                                          uint64_t tsc) {
    if (reassembly->free == NOWHERE)
        give_up(reassembly, reassembly->oldest);
    struct slot *const slot = reassembly->slot;
    uint32_t const index = reassembly->free;
    uint32_t *const bucket = bucket_of(reassembly, piece->addresses, piece->label);
    reassembly->free = slot[index].newer;
    slot[index] = (struct slot){
        .addresses = piece->addresses,
        .label = piece->label,
        .since_tsc = tsc,
        .in_bucket = *bucket,
        .older = reassembly->newest,
        .newer = NOWHERE,
    };
    *bucket = index;
    *(reassembly->newest != NOWHERE ? &slot[reassembly->newest].newer : &reassembly->oldest) = index;
    reassembly->newest = index;
    memset(reassembly->map + (size_t)index * reassembly->map_words, 0, reassembly->map_words * sizeof *reassembly->map);
    return index;
}

/** Signed, so that a time stamp a little older than the last one is not taken for one after a lap. */
static bool too_old(struct rm_reassembly const *reassembly, uint32_t index, uint64_t tsc) {
    int64_t const age = (int64_t)(tsc - reassembly->slot[index].since_tsc);
    return age >= 0 && (uint64_t)age >= reassembly->timeout_ticks;
}

static struct fragment piece_of(struct rm_ipv4_packet const *packet) {
    uint16_t const fragment = rm_load16(packet->header + IPV4_FRAGMENT);
    uint32_t const first = (fragment & FRAGMENT_OFFSET) * RM_UNIT_BYTES;
    return (struct fragment){
        .addresses = rm_load_memory64(packet->header + IPV4_SOURCE),
        .label = (uint64_t)rm_load16(packet->header + IPV4_IDENTIFICATION) << 16 | packet->vlan,
        .bytes = packet->header + packet->header_bytes,
        .first = first,
        .end = first + packet->total_length - packet->header_bytes,
        .more = fragment & MORE_FRAGMENTS,
    };
}

/** Whether it may be a fragment of anything. */
static bool piece_is_possible(struct rm_reassembly const *reassembly, struct fragment const *piece) {
    return piece->end > piece->first && piece->end <= reassembly->longest &&
           !(piece->more && piece->end % RM_UNIT_BYTES);
}

/** Whether it ends where a fragment of this datagram can. */
static bool ends_well(struct slot const *slot, struct fragment const *piece) {
    if (piece->more)
        return slot->total == 0 || piece->end < slot->total;
    return piece->end > slot->reach && (slot->total == 0 || piece->end == slot->total);
}

/** Puts it into its place; false where other bytes are. */
static bool reassembly_put_piece(struct rm_reassembly *reassembly, uint32_t index, struct fragment const *piece) {
    struct slot *const slot = &reassembly->slot[index];
    uint64_t *const map = reassembly->map + (size_t)index * reassembly->map_words;
    uint8_t *const place = reassembly->data + (size_t)index * reassembly->data_stride + piece->first;
    uint32_t const length = piece->end - piece->first;
    uint32_t const first_unit = piece->first / RM_UNIT_BYTES, end_unit = rm_units(piece->end);
    if (!ends_well(slot, piece))
        return false;
    uint32_t const there = rm_unit_map_count(map, first_unit, end_unit);
    if (there != 0)
        return there == end_unit - first_unit && memcmp(place, piece->bytes, length) == 0;
    rm_unit_map_set(map, first_unit, end_unit);
    memcpy(place, piece->bytes, length);
    slot->received += length;
    if (!piece->more)
        slot->total = piece->end;
    else if (piece->end > slot->reach)
        slot->reach = piece->end;
    return true;
}

enum rm_port_counter rm_reassembly_put(struct rm_reassembly *reassembly, uint8_t const *frame, uint32_t length,
                                       uint64_t tsc, struct rm_datagram *datagram) {
    struct rm_ipv4_packet packet;
    enum rm_port_counter const found = rm_ipv4_find(frame, length, true, &packet);
    if (found != RM_PORT_DECODED)
        return found;
    if (packet.header[IPV4_PROTOCOL] != PROTOCOL_UDP)
        return RM_PORT_NOT_UDP;
    struct fragment const piece = piece_of(&packet);
    uint32_t index = reassembly_find_datagram(reassembly, &piece);
    if (index != NOWHERE && too_old(reassembly, index, tsc)) {
        give_up(reassembly, index);
        index = NOWHERE;
    }
    bool good = piece_is_possible(reassembly, &piece);
    if (good && index == NOWHERE)
        index = reassembly_begin_datagram(reassembly, &piece, tsc);
    good = good && reassembly_put_piece(reassembly, index, &piece);
    if (!good) {
        if (index != NOWHERE)
            reassembly_finish_datagram(reassembly, index);
        return RM_PORT_BAD_FRAGMENT;
    }
    struct slot const *const slot = &reassembly->slot[index];
    if (slot->received != slot->total)
        return RM_PORT_FRAGMENT;
    reassembly_finish_datagram(reassembly, index);
    uint8_t const *const data = reassembly->data + (size_t)index * reassembly->data_stride;
    return rm_udp_find(packet.header + IPV4_SOURCE, data, slot->total, false, packet.vlan, datagram);
}

uint64_t rm_reassembly_expire(struct rm_reassembly *reassembly, uint64_t tsc) {
    while (reassembly->oldest != NOWHERE && too_old(reassembly, reassembly->oldest, tsc))
        give_up(reassembly, reassembly->oldest);
    uint64_t const given_up = reassembly->given_up;
    reassembly->given_up = 0;
    return given_up;
}
