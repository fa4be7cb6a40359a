// SPDX-License-Identifier: Apache-2.0
/** Jumbo frames pass, whole and in order, where the link carries them: `test_jumbo memif`, `… raw`, … */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { SKIPPED = 77, MTU = 9000, FRAME_BYTES = MTU + 14, PAYLOAD_BYTES = MTU - 28, DATAGRAMS = 3000 };

static uint32_t longest_of(struct endpoints const *endpoints) {
    return endpoints->kind == RM_PORT_UDP ? PAYLOAD_BYTES : FRAME_BYTES;
}

static void receive_jumbo(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    struct numbered numbered = {.longest = longest_of(endpoints)};
    atomic_store(&endpoints->shared->step, 1);
    numbered_receive(endpoints, port, 0, &numbered, DATAGRAMS);
    rm_port_close(port);
}

static void send_jumbo(struct endpoints *endpoints, int end) {
    if (endpoints->first != end)
        wait_for_step(endpoints, 1);
    struct rm_port *const port = open_end(endpoints, end);
    wait_for_step(endpoints, 1);
    wait_for_link(port, true);
    struct numbered numbered = {.longest = longest_of(endpoints)};
    numbered_send(endpoints, port, 0, &numbered, DATAGRAMS);
    close_sender(endpoints, port, DATAGRAMS);
}

static void frames_of_every_length_pass(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    for (int end = 0; end < 2; ++end)
        endpoints->config[end].longest_frame = longest_of(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_jumbo);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_jumbo)));
}

int main(int argc, char **argv) {
    struct endpoints endpoints;
    if (argc != 2 || !endpoints_make_mtu(&endpoints, argv[1], MTU)) {
        fprintf(stderr, "SKIPPED: jumbo frames of port kind '%s' were not tested\n", argc == 2 ? argv[1] : "");
        return SKIPPED;
    }
    struct CMUnitTest const tests[] = {cmocka_unit_test_prestate(frames_of_every_length_pass, &endpoints)};
    int const failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
