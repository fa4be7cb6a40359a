// SPDX-License-Identifier: Apache-2.0
/** Whether we speak memif, and no dialect: our end against DPDK's own driver (net_memif), as server and as client, both
 * ways, and with frames in several pieces. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance_numbered.h"
#include "net/dpdk_port.h"

enum {
    FRAMES = 20000,
    WHOLE_FRAME_BYTES = 2048,
    PIECE_BYTES = 512,
    /** Of up to three pieces each, in a ring of 1024 slots: on its second lap DPDK 22.11's driver leaves the mark of a
     * piece on whole frames. */
    FRAMES_IN_PIECES = 300,
};

static struct rm_port_ops const foreign_ops = {.framing = RM_FRAMING_ETHERNET,
                                               .receive = rm_dpdk_port_receive,
                                               .release = rm_dpdk_port_release,
                                               .reserve = rm_dpdk_port_reserve,
                                               .send = rm_dpdk_port_send,
                                               .totals = rm_dpdk_port_totals,
                                               .close = rm_dpdk_port_close};

/** Opens an end by DPDK's driver. A client of the driver's tries to connect once, when it is started. */
static struct rm_port *open_foreign(struct endpoints *endpoints, int end, uint32_t buffer_bytes) {
    struct rm_port_config config = endpoints->config[end];
    char arguments[192], directory[96];
    snprintf(directory, sizeof directory, "%s/run", endpoints->directory);
    expect((mkdir(endpoints->directory, 0755) == 0 || errno == EEXIST) &&
               (mkdir(directory, 0755) == 0 || errno == EEXIST),
           "a directory for the socket");
    while (!config.memif_server && access(config.socket_path, F_OK) != 0)
        pause_ms(1);
    snprintf(arguments, sizeof arguments, "role=%s,socket=%s,socket-abstract=no,bsize=%u",
             config.memif_server ? "server" : "client", config.socket_path, buffer_bytes);
    config.kind = RM_PORT_NULL; // one of DPDK's, as far as its memory goes
    struct rm_error error;
    struct rm_port *const port = rm_port_new(sizeof(struct rm_dpdk_device_port), &foreign_ops, &config, &error);
    expect(port != NULL, error.text);
    struct rm_dpdk_device_port *const dpdk = rm_dpdk_port(port);
    dpdk->device.bus = "vdev";
    rm_dpdk_device_name("net_memif", dpdk->device.name);
    struct rm_dpdk_wants const wants = {.arguments = arguments, .send_queues = 1};
    if (rm_dpdk_port_open(dpdk, &config, &wants, &error) != RM_OK)
        expect(false, error.text);
    return port;
}

static void send_all(struct endpoints *endpoints, struct rm_port *port, uint64_t count) {
    struct numbered numbered = {0};
    wait_for_link(port, true);
    numbered_send(endpoints, port, 0, &numbered, count);
    while (atomic_load(&endpoints->shared->received) < count) // the driver takes its memory with it
        pause_ms(1);
    rm_port_close(port);
}

static void receive_all(struct endpoints *endpoints, struct rm_port *port, uint64_t count) {
    struct numbered numbered = {0};
    numbered_receive(endpoints, port, 0, &numbered, count);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    expect(totals.received == count && totals.errors == 0 && totals.missed == 0, "every frame, and nothing else");
    rm_port_close(port);
}

static void send_ours(struct endpoints *endpoints, int end) { send_all(endpoints, open_end(endpoints, end), FRAMES); }
static void receive_ours(struct endpoints *endpoints, int end) {
    receive_all(endpoints, open_end(endpoints, end), FRAMES);
}
static void receive_pieces(struct endpoints *endpoints, int end) {
    receive_all(endpoints, open_end(endpoints, end), FRAMES_IN_PIECES);
}

static void send_foreign(struct endpoints *endpoints, int end) {
    send_all(endpoints, open_foreign(endpoints, end, WHOLE_FRAME_BYTES), FRAMES);
}

static void send_pieces(struct endpoints *endpoints, int end) {
    send_all(endpoints, open_foreign(endpoints, end, PIECE_BYTES), FRAMES_IN_PIECES);
}

static void receive_foreign(struct endpoints *endpoints, int end) {
    receive_all(endpoints, open_foreign(endpoints, end, WHOLE_FRAME_BYTES), FRAMES);
}

static void meet(struct endpoints *endpoints, int server, script *receiver, script *sender) {
    endpoints_begin(endpoints);
    unlink(endpoints->config[RECEIVER].socket_path); // the driver leaves its own
    endpoints->config[RECEIVER].memif_server = server == RECEIVER;
    endpoints->config[SENDER].memif_server = server == SENDER;
    pid_t const receiving = endpoints_start(endpoints, RECEIVER, receiver);
    assert_true(endpoints_wait_both(receiving, endpoints_start(endpoints, SENDER, sender)));
}

static void dpdks_client_sends_to_our_server(void **state) { meet(*state, RECEIVER, receive_ours, send_foreign); }

static void dpdks_client_sends_pieces_to_our_server(void **state) {
    meet(*state, RECEIVER, receive_pieces, send_pieces);
}

static void our_client_sends_to_dpdks_server(void **state) { meet(*state, RECEIVER, receive_foreign, send_ours); }

static void our_server_sends_to_dpdks_client(void **state) { meet(*state, SENDER, receive_foreign, send_ours); }

static void dpdks_server_sends_to_our_client(void **state) { meet(*state, SENDER, receive_ours, send_foreign); }

int main(void) {
    struct endpoints endpoints;
    if (!endpoints_make(&endpoints, "memif"))
        return 1;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(dpdks_client_sends_to_our_server, &endpoints),
        cmocka_unit_test_prestate(dpdks_client_sends_pieces_to_our_server, &endpoints),
        cmocka_unit_test_prestate(our_client_sends_to_dpdks_server, &endpoints),
        cmocka_unit_test_prestate(our_server_sends_to_dpdks_client, &endpoints),
        cmocka_unit_test_prestate(dpdks_server_sends_to_our_client, &endpoints),
    };
    int const failed = cmocka_run_group_tests_name("memif ports and DPDK's", tests, NULL, NULL);
    endpoints_remove(&endpoints);
    return failed;
}
