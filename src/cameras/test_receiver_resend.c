// SPDX-License-Identifier: Apache-2.0
/** A receiver asks a camera for what is missing, from the socket that it receives by: its frames come whole. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cameras/test_camera_rig.h"
#include "wire/network_order.h"

enum { GVCP_PORT = 3956, REQUEST_BYTES = 20, BLOCK_AT = 10, FIRST_AT = 12, LAST_AT = 16, LOST = 3 };

/** The control channel of a camera, at an address that this process alone has. */
struct test_camera {
    struct camera_rig rig;
    char address[16];
    int control;
};

static void test_camera_open(struct test_camera *camera, char const *percent) {
    char yaml[256];
    struct timeval const timeout = {.tv_sec = 60};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(GVCP_PORT)};
    snprintf(camera->address, sizeof camera->address, "127.77.%d.%d", getpid() >> 8 & 0xFF, getpid() & 0xFF);
    snprintf(yaml, sizeof yaml, "  - {name: cam01, port: wire, address: %s, deadline_ms: 60000, resend_percent: %s}\n",
             camera->address, percent);
    at.sin_addr.s_addr = inet_addr(camera->address);
    camera->control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(camera->control, (struct sockaddr const *)&at, sizeof at), 0);
    assert_int_equal(setsockopt(camera->control, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
    rig_open(&camera->rig, yaml);
    close(camera->rig.socket);
    camera->rig.socket = camera->control; /* it sends from there, too */
}

static void send_packets(struct test_camera const *camera, uint64_t block, uint32_t lost) {
    for (uint32_t packet = 0; packet <= RIG_FRAGMENTS + 1; ++packet)
        if (packet != lost)
            rig_send_packet(&camera->rig, block, packet);
}

/** The camera's answer to the next request. */
static void answer(struct test_camera const *camera, uint32_t block, uint32_t packet) {
    uint8_t request[REQUEST_BYTES + 1];
    assert_int_equal(recv(camera->control, request, sizeof request, 0), REQUEST_BYTES);
    assert_int_equal(rm_load16(request + BLOCK_AT), block);
    assert_int_equal(rm_load32(request + FIRST_AT), packet);
    assert_int_equal(rm_load32(request + LAST_AT), packet);
    rig_send_packet(&camera->rig, block, packet);
}

static void what_is_lost_is_asked_for_and_the_frame_is_whole(void **state) {
    (void)state;
    /* A payload packet, the leader, and the last packet of the payload. */
    static uint32_t const lost[] = {LOST, 0, RIG_FRAGMENTS};
    struct test_camera camera;
    test_camera_open(&camera, "30");
    for (uint32_t i = 0; i < 3; ++i) {
        struct rm_frame frame;
        send_packets(&camera, i + 1, lost[i]);
        answer(&camera, i + 1, lost[i]);
        assert_int_equal(rig_next(&camera.rig, &frame), 0);
        assert_true(frame.slot->resent >= 1);
        rig_check(&camera.rig, 0, &frame, i + 1, 0);
    }
    assert_true(rig_count(&camera.rig, "cam01", RM_CAMERA_RESEND_REQUESTS) >= 3);
    assert_true(rig_count(&camera.rig, "cam01", RM_CAMERA_RESEND_PACKETS) >= 3);
    rig_close(&camera.rig);
}

static void at_0_percent_nothing_is_asked_for(void **state) {
    (void)state;
    struct test_camera camera;
    test_camera_open(&camera, "0");
    struct rm_frame frame;
    send_packets(&camera, 1, LOST);
    send_packets(&camera, 2, UINT32_MAX); /* a whole one closes the one before */
    assert_int_equal(rig_next(&camera.rig, &frame), 0);
    assert_int_equal(frame.slot->resent, 0);
    rig_check(&camera.rig, 0, &frame, 1, 1);
    assert_int_equal(rig_count(&camera.rig, "cam01", RM_CAMERA_RESEND_REQUESTS), 0);
    uint8_t byte;
    assert_int_equal(recv(camera.control, &byte, 1, MSG_DONTWAIT), -1);
    rig_close(&camera.rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_is_lost_is_asked_for_and_the_frame_is_whole),
        cmocka_unit_test(at_0_percent_nothing_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
