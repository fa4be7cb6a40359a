// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a memif client. The first part of the input are its messages to a server, which may
 * bring a region's file or none; the rest is what it then writes into the region, over and over, while it is received
 * from, sent to and read. Aborts where a frame is shown that lies in no region; the sanitizers see the rest. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/memif_handshake.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

enum { REGION_BYTES = 1 << 16, LONGEST = 2048, ROUNDS = 4, MESSAGE_SHORT_BYTES = 24, FRAME_BYTES = 128 };

static void require(bool held) {
    if (!held)
        abort();
}

/** Messages that come first: most inputs would not get past them. */
static bool introduce(struct rm_memif_server *server, int file) {
    struct rm_memif_message answer, init = {.type = RM_MEMIF_INIT}, region = {.type = RM_MEMIF_ADD_REGION};
    init.init.version = RM_MEMIF_VERSION;
    region.add_region.bytes = REGION_BYTES;
    return rm_memif_server_take(server, &init, -1, &answer) == NULL &&
           rm_memif_server_take(server, &region, dup(file), &answer) == NULL;
}

/** Takes messages of MESSAGE_SHORT_BYTES, the rest of each zero, until one is refused or it is connected. The first
 * byte says what goes with it. Returns how many bytes were used. */
static size_t talk(struct rm_memif_server *server, int file, uint8_t const *data, size_t size) {
    size_t at = 0;
    for (; at + 1 + MESSAGE_SHORT_BYTES <= size && !server->connected; at += 1 + MESSAGE_SHORT_BYTES) {
        struct rm_memif_message message = {0}, answer;
        memcpy(&message, data + at + 1, MESSAGE_SHORT_BYTES);
        if (rm_memif_server_take(server, &message, (data[at] & 1) != 0 ? dup(file) : -1, &answer) != NULL)
            break;
    }
    return at;
}

static void read_all(struct rm_memif_ring const *ring, struct rm_burst const *burst, uint32_t count) {
    uint8_t volatile sum = 0;
    require(count <= RM_BURST);
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_memif_region const *const region = ring->regions->region;
        bool inside = burst->data[i] == ring->joined;
        for (uint32_t r = 0; r < ring->regions->count; ++r)
            inside |= burst->data[i] >= region[r].base &&
                      burst->data[i] + burst->length[i] <= region[r].base + region[r].bytes;
        require(inside && burst->length[i] <= LONGEST);
        for (uint32_t byte = 0; byte < burst->length[i]; ++byte)
            sum = (uint8_t)(sum + burst->data[i][byte]);
    }
}

static void use(struct rm_memif_channel const *channel, uint8_t const *data, size_t size) {
    uint8_t frame[FRAME_BYTES] = {0};
    for (uint16_t i = 0; i < channel->to_server_count; ++i) {
        struct rm_memif_ring ring = {0};
        struct rm_burst burst;
        require(rm_memif_ring_init(&ring, LONGEST));
        rm_memif_ring_attach_receive(&ring, &channel->regions, &channel->to_server[i]);
        for (int round = 0; round < ROUNDS; ++round) {
            memcpy(channel->to_server[i].shared, data, size);
            read_all(&ring, &burst, rm_memif_ring_receive(&ring, &burst));
            rm_memif_ring_release(&ring);
            rm_memif_ring_discard(&ring);
        }
        rm_memif_ring_free(&ring);
    }
    for (uint16_t i = 0; i < channel->to_client_count; ++i) {
        struct rm_memif_ring ring = {0};
        struct rm_burst burst = {.count = 2, .data = {frame, frame}, .length = {1, FRAME_BYTES}};
        rm_memif_ring_attach_send(&ring, &channel->regions, &channel->to_client[i]);
        for (int round = 0; round < ROUNDS; ++round) {
            memcpy(channel->to_client[i].shared, data, size);
            require(rm_memif_ring_send(&ring, &burst) <= burst.count);
        }
    }
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_memif_offer const offer = {.receive_rings = 2, .send_rings = 2};
    struct rm_memif_channel channel = {0};
    struct rm_memif_server server = {.offer = &offer, .channel = &channel};
    struct rm_memif_regions made = {0};
    int const file = rm_memif_regions_make(&made, REGION_BYTES);
    require(file >= 0);
    for (uint32_t at = 0; at < REGION_BYTES; at += 2048) { // cookies where rings may lie
        uint32_t const cookie = RM_MEMIF_COOKIE;
        memcpy(made.region[0].base + at, &cookie, sizeof cookie);
    }
    bool const begun = size != 0 && (data[0] & 1) != 0 ? introduce(&server, file) : true;
    require(begun);
    size_t const used = size != 0 ? 1 + talk(&server, file, data + 1, size - 1) : 0;
    struct rm_memif_message answer, connect = {.type = RM_MEMIF_CONNECT};
    if (server.greeted && !server.connected)
        (void)rm_memif_server_take(&server, &connect, -1, &answer);
    if (server.connected) {
        size_t const rest = size - used;
        use(&channel, data + used, rest < 1024 ? rest : 1024);
    }
    rm_memif_channel_close(&channel);
    rm_memif_regions_unmap(&made);
    close(file);
    return 0;
}
