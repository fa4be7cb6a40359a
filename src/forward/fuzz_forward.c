// SPDX-License-Identifier: Apache-2.0
/* Bursts of any bytes through the router. Each frame ends in one counter, and what is forwarded in IPv4 has a right
 * checksum. A frame is two bytes, little-endian, and its bytes; the first byte of all chooses the port. Of the two bytes 14
 * bits are its length; the highest lets its MAC address be ours, the next its IPv4 checksum be right. */
#include "forward/test_rig.h"

#include "wire/internet_checksum.h"

static struct rig *router;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    tables_start(64 + rm_routes_memory_mib(&RIG_LIMITS));
    router = rig_make();
    rig_route(router, rig_ipv4(16, 0), 12, RM_HOP_UNREACHABLE);
    rig_route(router, rig_ipv6(16, 0), 60, RM_HOP_PROHIBITED);
    rm_routes_publish(router->routes);
    return 0;
}

static uint64_t ended(uint32_t port) {
    uint64_t sum = 0;
    for (uint32_t i = RM_FORWARD_FORWARDED; i <= RM_FORWARD_SAME_PORT; ++i)
        sum += rm_counter_get(router->counters[port], i);
    return sum;
}

static void check_left(struct rig_left const *left) {
    uint32_t const at = rm_load16(left->frame + 12) == 0x8100 ? 18 : 14;
    if (left->length < at + 20 || rm_load16(left->frame + at - 2) != 0x0800)
        return;
    uint32_t const header_bytes = (left->frame[at] & 15u) * 4;
    if (rm_checksum_fold(rm_checksum_add_bytes(0, left->frame + at, header_bytes)) != 0xFFFF ||
        rm_load16(left->frame + at + 2) > left->length - at)
        abort();
}

static void help_frame(uint8_t *frame, size_t length, uint32_t port, bool mac, bool checksum) {
    if (mac && length >= 14)
        rig_mac(frame, port, false);
    uint32_t const at = length >= 18 && rm_load16(frame + 12) == 0x8100 ? 18 : 14;
    if (checksum && length >= at + 60)
        rm_ipv4_write_checksum(frame + at, (frame[at] & 15u) < 5 ? 20 : (frame[at] & 15u) * 4);
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_burst burst = {.count = 0};
    if (size == 0)
        return 0;
    uint32_t const port = *data++ % RIG_PORTS;
    --size;
    while (size >= 2 && burst.count < RM_BURST) {
        bool const mac = data[1] & 0x80, checksum = data[1] & 0x40;
        size_t length = data[0] | (size_t)(data[1] & 0x3F) << 8;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        if (length > RIG_FRAME_BYTES)
            length = RIG_FRAME_BYTES;
        burst.data[burst.count] = malloc(length + (length == 0));
        memcpy(burst.data[burst.count], data, length);
        help_frame(burst.data[burst.count], length, port, mac, checksum);
        burst.length[burst.count++] = (uint32_t)length;
        data += length;
        size -= length;
    }
    router->left_count = 0;
    router->now_ns += 1000000;
    rm_forward_burst(&router->forward, port, &burst, router->now_ns);
    for (uint32_t i = 0; i < burst.count; ++i)
        free(burst.data[i]);
    for (uint32_t i = 0; i < router->left_count; ++i)
        check_left(&router->left[i]);
    if (ended(port) != rm_counter_get(router->counters[port], RM_FORWARD_RECEIVED))
        abort();
    struct rm_handoff_packet packet;
    while (rm_handoff_see(&router->handoff, &packet))
        rm_handoff_done(&router->handoff);
    return 0;
}
