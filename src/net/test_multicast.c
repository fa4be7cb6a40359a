// SPDX-License-Identifier: Apache-2.0
/** Multicast groups: `test_multicast udp|af_packet|af_xdp`. The kernel joins them, and their datagrams arrive. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance_numbered.h"

enum { SKIPPED = 77, DATAGRAMS = 100, PAYLOAD_BYTES = 64, UDP_PORT = 4000 };
static uint32_t const GROUP = 0xEF010203, OTHER_GROUP = 0xEF010204; // 239.1.2.3 and .4

/** To both groups in turn; the last byte says which. */
static void send_to_groups(struct endpoints *endpoints, int end) {
    (void)end;
    wait_for_step(endpoints, 1);
    int const fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct in_addr const from = {.s_addr = htonl(0x0A630002)};
    expect(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof from) == 0, "a way out for multicast");
    for (int i = 0; i < 2 * DATAGRAMS; ++i) {
        struct sockaddr_in const peer = {.sin_family = AF_INET,
                                         .sin_port = htons(endpoints->claimed ? CLAIMED_PORT : UDP_PORT),
                                         .sin_addr.s_addr = htonl(i % 2 == 0 ? GROUP : OTHER_GROUP)};
        uint8_t payload[PAYLOAD_BYTES] = {0};
        payload[PAYLOAD_BYTES - 1] = (uint8_t)(i % 2);
        expect(sendto(fd, payload, sizeof payload, 0, (struct sockaddr const *)&peer, sizeof peer) == sizeof payload,
               "a datagram to leave");
    }
    close(fd);
}

/** The kernel lists groups in hexadecimal, as they lie in memory. */
static bool kernel_has_joined(void) {
    char line[256], wanted[16];
    bool found = false;
    FILE *const file = fopen("/proc/thread-self/net/igmp", "r");
    expect(file != NULL, "the kernel's list of groups");
    snprintf(wanted, sizeof wanted, "%08X", htonl(GROUP));
    while (fgets(line, sizeof line, file) != NULL)
        found |= strstr(line, wanted) != NULL;
    fclose(file);
    return found;
}

static void receive_a_group(struct endpoints *endpoints, int end) {
    struct rm_port *const port = open_end(endpoints, end);
    expect(kernel_has_joined(), "the kernel to be a member");
    atomic_store(&endpoints->shared->step, 1);
    struct rm_burst burst = {0};
    for (uint32_t received = 0; received < DATAGRAMS; rm_port_release(port, 0, &burst)) {
        rm_port_receive(port, 0, &burst);
        for (uint32_t i = 0; i < burst.count; ++i) {
            bool const other = burst.data[i][burst.length[i] - 1] != 0;
            expect(burst.length[i] >= PAYLOAD_BYTES, "a datagram of the sender's");
            expect(!other || rm_port_framing(port) == RM_FRAMING_ETHERNET, "a socket to get its own groups only");
            received += !other;
        }
    }
    rm_port_close(port);
    expect(!kernel_has_joined(), "the membership to end with the port");
}

static void a_group_arrives(void **state) {
    struct endpoints *const endpoints = *state;
    endpoints_begin(endpoints);
    pid_t const receiver = endpoints_start(endpoints, RECEIVER, receive_a_group);
    assert_true(endpoints_wait_both(receiver, endpoints_start(endpoints, SENDER, send_to_groups)));
}

static void join_wrongly(struct endpoints *endpoints, int end) {
    struct rm_port_config config = endpoints->config[end];
    struct rm_port *port = NULL;
    struct rm_error error = {0};
    config.group[0] = 0x0A630001;
    expect(rm_port_open(&config, &port, &error) == RM_E_SYSTEM && port == NULL, "no group to be refused");
    expect(strstr(error.text, "cannot join the multicast group 10.99.0.1") != NULL, error.text);
}

static void what_is_no_group_is_refused(void **state) {
    endpoints_begin(*state);
    assert_true(endpoints_wait(endpoints_start(*state, RECEIVER, join_wrongly)));
}

int main(int argc, char **argv) {
    struct endpoints endpoints;
    if (argc != 2 || !endpoints_make(&endpoints, argv[1])) {
        fprintf(stderr, "SKIPPED: multicast by '%s' was not tested\n", argc == 2 ? argv[1] : "");
        return SKIPPED;
    }
    endpoints.config[RECEIVER].group_count = 1;
    endpoints.config[RECEIVER].group[0] = GROUP;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(a_group_arrives, &endpoints),
        cmocka_unit_test_prestate(what_is_no_group_is_refused, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
