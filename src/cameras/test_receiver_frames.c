// SPDX-License-Identifier: Apache-2.0
/** The receiver on a packet port: Ethernet frames over memif, from a sender in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cameras/test_camera_rig.h"
#include "net/port.h"
#include "wire/frame.h"

static void sender_open(struct camera_rig const *rig, struct rm_port **sender) {
    struct rm_port_config config = {.name = "sender", .kind = RM_PORT_MEMIF, .queues = 1};
    struct rm_port_statistics totals = {.link_up = false};
    struct rm_error error = {.text = ""};
    snprintf(config.socket_path, sizeof config.socket_path, "%s/memif.sock", rig->folder);
    if (rm_port_open(&config, sender, &error) != RM_OK)
        fail_msg("%s", error.text);
    struct rm_burst burst = {.count = 0};
    while (!totals.link_up) {
        rm_port_receive(*sender, 0, &burst);
        rm_port_release(*sender, 0, &burst);
        rm_port_totals(*sender, &totals);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void sender_send(struct rm_port *sender, uint8_t const *frame, uint32_t length) {
    struct rm_burst burst = {.count = 0};
    while (rm_port_reserve(sender, 0, &burst, 1) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    memcpy(burst.data[0], frame, length);
    burst.length[0] = length;
    while (rm_port_send(sender, 0, &burst) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/** A part of a frame of camera 7 as an Ethernet frame; returns its length. */
static uint32_t frame_of_part(uint8_t *frame, uint64_t number, int part, uint16_t udp_port, uint16_t vlan) {
    struct rm_flow const flow = {.destination_mac = {2, 0, 0, 0, 0, 1},
                                 .source_mac = {2, 0, 0, 0, 0, 2},
                                 .source_ipv4 = 0x0A000001,
                                 .destination_ipv4 = 0x0A000002,
                                 .source_port = 3000,
                                 .destination_port = udp_port,
                                 .vlan = vlan};
    uint8_t payload[RIG_PART_BYTES];
    uint32_t const length = rig_part(payload, 7, number, part);
    uint32_t const header = rm_frame_write_header(frame, &flow, length);
    memcpy(frame + header, payload, length);
    return header + length;
}

static void frames_come_with_and_without_a_tag(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_port *sender;
    uint8_t frame[RM_SEND_BYTES];
    char port[160];
    rig_begin(&rig);
    snprintf(port, sizeof port, "  - {name: wire, kind: memif, socket: %s/memif.sock, role: server}\n", rig.folder);
    rig_open_on(&rig, port,
                "  - {name: cam01, port: wire, udp_port: 20001, format: fragments, id: 7, frame_bytes: 4096, "
                "deadline_ms: 60000}\n");
    sender_open(&rig, &sender);
    uint64_t sent = 0;
    for (uint64_t number = 1; number <= 20; ++number) {
        struct rm_frame image;
        for (int part = -1; part < RIG_FRAGMENTS; ++part, ++sent)
            sender_send(sender, frame, frame_of_part(frame, number, part, 20001, number % 2 ? 0 : 7));
        uint32_t const camera = rig_next(&rig, &image);
        rig_check(&rig, camera, &image, number, 0);
    }
    uint32_t const length = frame_of_part(frame, 21, 0, 20001, 0);
    frame[RM_ETHERNET_BYTES + 6] |= 0x20; /* more fragments of IP; the checksum with it */
    frame[RM_ETHERNET_BYTES + 10] = (uint8_t)(frame[RM_ETHERNET_BYTES + 10] - 0x20);
    sender_send(sender, frame, length);
    sender_send(sender, frame, frame_of_part(frame, 21, 0, 20009, 0));
    memset(frame, 0, 60);
    frame[12] = 0x99; /* a capture device's, which no camera here is behind */
    frame[13] = 0xFE;
    sender_send(sender, frame, 60);
    frame[12] = 0x08; /* ARP */
    frame[13] = 0x06;
    sender_send(sender, frame, 60);
    rig_await_received(&rig, sent + 4);
    assert_int_equal(rig_port_count(&rig, RM_PORT_DECODED), sent);
    assert_int_equal(rig_port_count(&rig, RM_PORT_FRAGMENT), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_NOT_OUR_PORT), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_NOT_IPV4), 2);
    rm_port_close(sender);
    rig_close(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(frames_come_with_and_without_a_tag)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
