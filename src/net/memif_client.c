// SPDX-License-Identifier: Apache-2.0
/** The client's half of a handshake: it makes the memory. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/memif_handshake.h"

enum { PAGE_BYTES = 4096 };

static uint64_t memif_round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

static uint64_t ring_bytes(struct rm_memif_offer const *offer) {
    return memif_round_up(rm_memif_ring_bytes(offer->slots_log2), RM_MEMIF_LINE_BYTES);
}

/** Region 0: all rings, those to the server first, then all buffers in the same order. */
static uint64_t buffers_at(struct rm_memif_offer const *offer) {
    return memif_round_up((offer->send_rings + offer->receive_rings) * ring_bytes(offer), PAGE_BYTES);
}

uint64_t rm_memif_offer_bytes(struct rm_memif_offer const *offer) {
    uint64_t const a_slot =
        (uint64_t)offer->send_rings * offer->send_bytes + (uint64_t)offer->receive_rings * offer->receive_bytes;
    return buffers_at(offer) + (a_slot << offer->slots_log2);
}

/** Places a ring and its buffers; the next ones stand behind them. */
static void place_ring(struct rm_memif_place *place, struct rm_memif_offer const *offer, bool to_server, uint8_t **ring,
                       uint8_t **buffers) {
    *place = (struct rm_memif_place){.shared = (struct rm_memif_shared_ring *)(void *)*ring,
                                     .slots = (uint16_t)(1u << offer->slots_log2),
                                     .to_server = to_server,
                                     .buffers = *buffers,
                                     .stride = to_server ? offer->send_bytes : offer->receive_bytes,
                                     .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    place->shared->cookie = RM_MEMIF_COOKIE;
    if (!to_server)
        atomic_store_explicit(&place->shared->flags, RM_MEMIF_MASK_INTERRUPT, memory_order_relaxed);
    *ring += ring_bytes(offer);
    *buffers += (uint64_t)place->slots * place->stride;
}

static uint16_t fewer_rings(uint16_t ours, uint16_t last_of_theirs) {
    return last_of_theirs < ours ? (uint16_t)(last_of_theirs + 1) : ours;
}

char const *rm_memif_client_greeted(struct rm_memif_client *client, struct rm_memif_message const *message) {
    struct rm_memif_channel *const channel = client->channel;
    struct rm_memif_hello const *const hello = &message->hello;
    if (message->type != RM_MEMIF_HELLO)
        return "HELLO comes first";
    if (hello->lowest_version > RM_MEMIF_VERSION || hello->highest_version < RM_MEMIF_VERSION)
        return "only version 2.0 of memif is spoken here";
    struct rm_memif_offer agreed = *client->offer;
    agreed.send_rings = fewer_rings(agreed.send_rings, hello->last_ring_to_server);
    agreed.receive_rings = fewer_rings(agreed.receive_rings, hello->last_ring_to_client);
    if (agreed.slots_log2 > hello->most_slots_log2)
        agreed.slots_log2 = hello->most_slots_log2;
    client->region_file = rm_memif_regions_make(&channel->regions, rm_memif_offer_bytes(&agreed));
    if (client->region_file < 0)
        return "no memory for the region";
    uint8_t *ring = channel->regions.region[0].base;
    uint8_t *buffers = ring + buffers_at(&agreed);
    while (channel->to_server_count < agreed.send_rings)
        place_ring(&channel->to_server[channel->to_server_count++], &agreed, true, &ring, &buffers);
    while (channel->to_client_count < agreed.receive_rings)
        place_ring(&channel->to_client[channel->to_client_count++], &agreed, false, &ring, &buffers);
    return NULL;
}

static struct rm_memif_message memif_ring_announcement(struct rm_memif_channel const *channel,
                                                       struct rm_memif_place const *place, uint32_t index) {
    struct rm_memif_message message = {.type = RM_MEMIF_ADD_RING};
    message.add_ring = (struct rm_memif_add_ring){
        .flags = place->to_server ? RM_MEMIF_RING_TO_SERVER : 0,
        .index = (uint16_t)index,
        .offset = (uint32_t)((uint8_t const *)place->shared - channel->regions.region[0].base),
        .slots_log2 = (uint8_t)__builtin_ctz(place->slots)};
    return message;
}

bool rm_memif_client_next(struct rm_memif_client *client, struct rm_memif_message *message, int *file) {
    struct rm_memif_channel const *const channel = client->channel;
    uint32_t const rings = (uint32_t)channel->to_server_count + channel->to_client_count;
    uint32_t const turn = client->said++;
    *file = -1;
    *message = (struct rm_memif_message){0};
    if (turn == 0) {
        message->type = RM_MEMIF_INIT;
        message->init = (struct rm_memif_init){.version = RM_MEMIF_VERSION, .name = "ringmaster"};
    } else if (turn == 1) {
        *file = client->region_file;
        message->type = RM_MEMIF_ADD_REGION;
        message->add_region.bytes = channel->regions.region[0].bytes;
    } else if (turn < 2 + rings) {
        uint32_t const ring = turn - 2;
        bool const to_server = ring < channel->to_server_count;
        uint32_t const index = to_server ? ring : ring - channel->to_server_count;
        struct rm_memif_place const *const place = &(to_server ? channel->to_server : channel->to_client)[index];
        *file = place->bell;
        *message = memif_ring_announcement(channel, place, index);
    } else {
        message->type = RM_MEMIF_CONNECT;
        message->connect = (struct rm_memif_connected){.name = "ringmaster"};
    }
    return turn <= 2 + rings;
}

void rm_memif_client_end(struct rm_memif_client *client) {
    if (client->region_file >= 0)
        close(client->region_file);
    client->region_file = -1;
}
