// SPDX-License-Identifier: Apache-2.0
/** The receiver on a packet port: Ethernet frames over memif, from a sender in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cameras/test_frame_sender.h"
#include "wire/frame.h"

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
    uint8_t frame[RM_SEND_BYTES];
    struct rm_port *const sender = frame_sender_open(
        &rig, "  - {name: cam01, port: wire, udp_port: 20001, format: fragments, id: 7, frame_bytes: 4096, "
              "deadline_ms: 60000}\n");
    uint64_t sent = 0;
    for (uint64_t number = 1; number <= 20; ++number) {
        struct rm_frame image;
        for (int part = -1; part < RIG_FRAGMENTS; ++part, ++sent)
            frame_sender_send(sender, frame, frame_of_part(frame, number, part, 20001, number % 2 ? 0 : 7));
        uint32_t const camera = rig_next(&rig, &image);
        rig_check(&rig, camera, &image, number, 0);
    }
    uint32_t const length = frame_of_part(frame, 21, 0, 20001, 0);
    frame[RM_ETHERNET_BYTES + 6] |= 0x20; /* more fragments of IP; the checksum with it */
    frame[RM_ETHERNET_BYTES + 10] = (uint8_t)(frame[RM_ETHERNET_BYTES + 10] - 0x20);
    frame_sender_send(sender, frame, length);
    frame_sender_send(sender, frame, frame_of_part(frame, 21, 0, 20009, 0));
    memset(frame, 0, 60);
    frame[12] = 0x99; /* a capture device's, which no camera here is behind */
    frame[13] = 0xFE;
    frame_sender_send(sender, frame, 60);
    frame[12] = 0x08; /* ARP */
    frame[13] = 0x06;
    frame_sender_send(sender, frame, 60);
    rig_await_received(&rig, sent + 4);
    assert_int_equal(rig_port_count(&rig, RM_PORT_DECODED), sent);
    assert_int_equal(rig_port_count(&rig, RM_PORT_FRAGMENT), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_NOT_OUR_PORT), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_NOT_IPV4), 2);
    frame_sender_close(sender, &rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(frames_come_with_and_without_a_tag)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
