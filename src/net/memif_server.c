// SPDX-License-Identifier: Apache-2.0
/** The server's half of a handshake. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/memif_handshake.h"

enum { RING_ALIGNMENT = 16 };

void rm_memif_server_hello(struct rm_memif_server const *server, struct rm_memif_message *hello) {
    *hello = (struct rm_memif_message){.type = RM_MEMIF_HELLO};
    hello->hello = (struct rm_memif_hello){.name = "ringmaster",
                                           .lowest_version = RM_MEMIF_VERSION,
                                           .highest_version = RM_MEMIF_VERSION,
                                           .last_region = RM_MEMIF_REGIONS_MAX - 1,
                                           .last_ring_to_client = (uint16_t)(server->offer->send_rings - 1),
                                           .last_ring_to_server = (uint16_t)(server->offer->receive_rings - 1),
                                           .most_slots_log2 = RM_MEMIF_SLOTS_LOG2_MAX};
}

static char const *take_init(struct rm_memif_server *server, struct rm_memif_init const *init) {
    if (server->greeted)
        return "INIT came twice";
    if (init->version != RM_MEMIF_VERSION)
        return "only version 2.0 of memif is spoken here";
    if (init->interface != 0)
        return "there is interface 0 only";
    if (init->mode != RM_MEMIF_MODE_ETHERNET)
        return "there is mode ethernet only";
    server->greeted = true;
    return NULL;
}

static char const *take_region(struct rm_memif_server *server, struct rm_memif_add_region const *region, int file) {
    if (file < 0)
        return "a region came without its file";
    if (region->index != server->channel->regions.count)
        return "regions come out of order";
    return rm_memif_regions_map(&server->channel->regions, file, region->bytes);
}

/** Whether `file` is an eventfd: writing into anything else might never end, or end this process. */
static bool is_bell(int file) {
    char link[32], target[32] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return readlink(link, target, sizeof target - 1) > 0 && strcmp(target, "anon_inode:[eventfd]") == 0 &&
           fcntl(file, F_SETFL, O_NONBLOCK) == 0;
}

/** A ring of the direction to the client keeps the file that wakes him, if that is one. */
static char const *take_ring(struct rm_memif_server *server, struct rm_memif_add_ring const *ring, int *file) {
    struct rm_memif_channel *const channel = server->channel;
    bool const to_server = (ring->flags & RM_MEMIF_RING_TO_SERVER) != 0;
    uint16_t *const count = to_server ? &channel->to_server_count : &channel->to_client_count;
    uint16_t const most = to_server ? server->offer->receive_rings : server->offer->send_rings;
    if (ring->index >= most)
        return "there are not so many rings";
    if (ring->index != *count)
        return "rings come out of order";
    if (ring->slots_log2 > RM_MEMIF_SLOTS_LOG2_MAX)
        return "a ring has too many slots";
    uint8_t *const at =
        rm_memif_regions_at(&channel->regions, ring->region, ring->offset, rm_memif_ring_bytes(ring->slots_log2));
    if (at == NULL || ring->offset % RING_ALIGNMENT != 0)
        return "a ring does not lie in its region";
    struct rm_memif_place *const place = &(to_server ? channel->to_server : channel->to_client)[(*count)++];
    *place = (struct rm_memif_place){.shared = (struct rm_memif_shared_ring *)(void *)at,
                                     .slots = (uint16_t)(1u << ring->slots_log2),
                                     .to_server = to_server,
                                     .bell = -1};
    if (to_server || *file < 0 || !is_bell(*file))
        return NULL;
    place->bell = *file;
    *file = -1;
    return NULL;
}

/** Both indices begin at 0, and a peer that sends to us need not wake us. */
static bool memif_server_begin_place(struct rm_memif_place const *place) {
    struct rm_memif_shared_ring *const shared = place->shared;
    if (shared->cookie != RM_MEMIF_COOKIE)
        return false;
    atomic_store_explicit(&shared->head, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->tail, 0, memory_order_relaxed);
    if (place->to_server)
        atomic_store_explicit(&shared->flags, RM_MEMIF_MASK_INTERRUPT, memory_order_relaxed);
    return true;
}

static char const *take_connect(struct rm_memif_server *server) {
    struct rm_memif_channel const *const channel = server->channel;
    bool good = true;
    for (uint16_t i = 0; i < channel->to_server_count; ++i)
        good = good && memif_server_begin_place(&channel->to_server[i]);
    for (uint16_t i = 0; i < channel->to_client_count; ++i)
        good = good && memif_server_begin_place(&channel->to_client[i]);
    server->connected = good;
    return good ? NULL : "a ring does not begin with memif's cookie";
}

static char const *memif_server_take_message(struct rm_memif_server *server, struct rm_memif_message const *message,
                                             int *file) {
    if (message->type != RM_MEMIF_INIT && !server->greeted)
        return "INIT comes first";
    switch (message->type) {
    case RM_MEMIF_INIT:
        return take_init(server, &message->init);
    case RM_MEMIF_ADD_REGION:
        return take_region(server, &message->add_region, *file);
    case RM_MEMIF_ADD_RING:
        return take_ring(server, &message->add_ring, file);
    case RM_MEMIF_CONNECT:
        return take_connect(server);
    default:
        return "this is no message for a server";
    }
}

char const *rm_memif_server_take(struct rm_memif_server *server, struct rm_memif_message const *message, int file,
                                 struct rm_memif_message *answer) {
    char const *const refusal = memif_server_take_message(server, message, &file);
    if (file >= 0)
        close(file);
    *answer = (struct rm_memif_message){.type = RM_MEMIF_ACK};
    if (refusal == NULL && server->connected) {
        answer->type = RM_MEMIF_CONNECTED;
        answer->connect = (struct rm_memif_connected){.name = "ringmaster"};
    }
    return refusal;
}
