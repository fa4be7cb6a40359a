// SPDX-License-Identifier: Apache-2.0
/** Requests on their way: from the socket of a udp port, and as frames of a packet port, which is a ring here. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cameras/resend_port.h"

enum { LOOPBACK = 0x7F000001, CAMERA = 0x0A1E000B, HOST = 0x0A1E0001, GROUP = 0xEF010203, STREAM_PORT = 20001 };

static struct rm_gvcp_resend const requests[] = {
    {.request = 7, .extended_ids = true, .block = 9, .first = 3, .last = 5},
    {.request = 8, .block = 9, .first = 1, .last = 1},
};

static uint32_t request_payload(uint32_t index, uint8_t payload[RM_GVCP_RESEND_LONGEST]) {
    return rm_gvcp_write_resend(payload, &requests[index]);
}

static struct rm_port *open_port(struct rm_port_config const *config) {
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    rm_port_open(config, &port, &error);
    assert_string_equal(error.text, "");
    return port;
}

/** A camera's control channel, at any port of the loopback. */
static int camera_open(struct sockaddr_in *address) {
    int const camera = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct timeval const timeout = {.tv_sec = 20};
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(LOOPBACK)};
    assert_int_equal(bind(camera, (struct sockaddr const *)address, sizeof *address), 0);
    assert_int_equal(getsockname(camera, (struct sockaddr *)address, &length), 0);
    assert_int_equal(setsockopt(camera, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
    return camera;
}

static void requests_leave_the_socket_that_the_stream_comes_to(void **state) {
    (void)state;
    struct rm_port_config const config = {.name = "sockets", .kind = RM_PORT_UDP, .queues = 1, .bind_ipv4 = LOOPBACK};
    struct rm_port *const port = open_port(&config);
    struct sockaddr_in address, from;
    int const camera = camera_open(&address);
    struct rm_flow way;
    rm_resend_way_of_socket(LOOPBACK, &way);
    assert_int_equal(way.destination_port, RM_GVCP_PORT);
    way.destination_port = ntohs(address.sin_port);
    assert_int_equal(rm_resend_send(port, 0, &way, requests, 2), 2);
    for (uint32_t i = 0; i < 2; ++i) {
        uint8_t expected[RM_GVCP_RESEND_LONGEST], got[2 * RM_GVCP_RESEND_LONGEST];
        socklen_t length = sizeof from;
        assert_int_equal(recvfrom(camera, got, sizeof got, 0, (struct sockaddr *)&from, &length),
                         request_payload(i, expected));
        assert_memory_equal(got, expected, request_payload(i, expected));
    }
    // What goes back to where they came from arrives at the port.
    assert_int_equal(sendto(camera, "again", 5, 0, (struct sockaddr const *)&from, sizeof from), 5);
    struct rm_burst burst;
    while (rm_port_receive_sleeping(port, 0, &burst, RM_SLEEP) == 0)
        ;
    assert_int_equal(burst.length[0], 5);
    rm_port_release(port, 0, &burst);
    close(camera);
    rm_port_close(port);
}

/** A packet of the camera, as a packet port receives it. */
static struct rm_datagram camera_frame(uint8_t *frame, uint32_t destination_ipv4, uint16_t vlan) {
    struct rm_flow const flow = {.destination_mac = {2, 0, 0, 0, 0, 1},
                                 .source_mac = {2, 0, 0, 0, 0, 2},
                                 .source_ipv4 = CAMERA,
                                 .destination_ipv4 = destination_ipv4,
                                 .source_port = 50000,
                                 .destination_port = STREAM_PORT,
                                 .vlan = vlan};
    uint32_t const header = rm_frame_write_header(frame, &flow, 1);
    struct rm_datagram datagram;
    assert_int_equal(rm_frame_parse(frame, header + 1, false, &datagram), RM_PORT_DECODED);
    return datagram;
}

static void frame_is_request(uint8_t const *frame, uint32_t length, uint32_t index, uint16_t vlan) {
    uint8_t expected[RM_GVCP_RESEND_LONGEST];
    struct rm_datagram datagram;
    assert_int_equal(rm_frame_parse(frame, length, false, &datagram), RM_PORT_DECODED);
    assert_int_equal(datagram.length, request_payload(index, expected));
    assert_memory_equal(datagram.payload, expected, datagram.length);
    assert_int_equal(datagram.source_ipv4, HOST);
    assert_int_equal(datagram.destination_ipv4, CAMERA);
    assert_int_equal(datagram.source_port, STREAM_PORT);
    assert_int_equal(datagram.destination_port, RM_GVCP_PORT);
    assert_int_equal(datagram.vlan, vlan == 0 ? RM_VLAN_NONE : vlan);
    assert_memory_equal(frame, ((uint8_t const[]){2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}), 12);
}

static void requests_are_frames_back_to_where_the_stream_comes_from(void **state) {
    (void)state;
    static uint16_t const vlans[] = {0, 77};
    struct rm_port_config const config = {.name = "ring", .kind = RM_PORT_RING, .queues = 1};
    struct rm_port *const port = open_port(&config);
    for (uint32_t v = 0; v < 2; ++v) {
        uint8_t frame[64];
        struct rm_datagram const datagram = camera_frame(frame, HOST, vlans[v]);
        struct rm_flow way;
        assert_true(rm_resend_way_of_frame(frame, &datagram, &way));
        assert_int_equal(rm_resend_send(port, 0, &way, requests, 2), 2);
        struct rm_burst burst;
        assert_int_equal(rm_port_receive(port, 0, &burst), 2);
        for (uint32_t i = 0; i < 2; ++i)
            frame_is_request(burst.data[i], burst.length[i], i, vlans[v]);
        rm_port_release(port, 0, &burst);
    }
    rm_port_close(port);
}

static void a_group_has_no_way_back(void **state) {
    (void)state;
    uint8_t frame[64];
    struct rm_datagram const datagram = camera_frame(frame, GROUP, 0);
    struct rm_flow way;
    assert_false(rm_resend_way_of_frame(frame, &datagram, &way));
}

static int start_net(void **state) {
    (void)state;
    struct rm_net_config config = {.prefix = "rm-test-resend"};
    struct rm_port_config const ring = {.kind = RM_PORT_RING, .queues = 1};
    rm_net_config_add(&config, &ring);
    struct rm_error error;
    return rm_net_start(&config, &error) == RM_OK ? 0 : -1;
}

static int stop_net(void **state) {
    (void)state;
    rm_net_stop();
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(requests_leave_the_socket_that_the_stream_comes_to),
        cmocka_unit_test(requests_are_frames_back_to_where_the_stream_comes_from),
        cmocka_unit_test(a_group_has_no_way_back),
    };
    return cmocka_run_group_tests(tests, start_net, stop_net);
}
