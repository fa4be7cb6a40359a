// SPDX-License-Identifier: Apache-2.0
/** Which peers a memif server refuses, and why; and that a client and a server of ours agree. */
#include "net/memif_handshake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { SLOTS_LOG2 = 4, BUFFER_BYTES = 192 };

static struct rm_memif_offer const OFFER = {
    .receive_rings = 2, .send_rings = 3, .slots_log2 = SLOTS_LOG2, .send_bytes = 192, .receive_bytes = 192};

struct pair {
    struct rm_memif_channel at_server, at_client;
    struct rm_memif_server server;
    struct rm_memif_client client;
};

static void begin(struct pair *pair) {
    memset(pair, 0, sizeof *pair);
    pair->server = (struct rm_memif_server){.offer = &OFFER, .channel = &pair->at_server};
    pair->client = (struct rm_memif_client){.offer = &OFFER, .channel = &pair->at_client, .region_file = -1};
    struct rm_memif_message hello;
    rm_memif_server_hello(&pair->server, &hello);
    assert_null(rm_memif_client_greeted(&pair->client, &hello));
}

static void end(struct pair *pair) {
    rm_memif_client_end(&pair->client);
    rm_memif_channel_close(&pair->at_server);
    rm_memif_channel_close(&pair->at_client);
}

/** Hands a message over as a socket would: its file as a duplicate. NULL, or why it was refused. */
static char const *hand_over(struct pair *pair, struct rm_memif_message const *message, int file) {
    struct rm_memif_message answer;
    return rm_memif_server_take(&pair->server, message, file >= 0 ? dup(file) : -1, &answer);
}

/** Says the first `count` messages of a client. */
static void say(struct pair *pair, uint32_t count) {
    struct rm_memif_message message;
    int file;
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(rm_memif_client_next(&pair->client, &message, &file));
        assert_null(hand_over(pair, &message, file));
    }
}

/** Each end has as many rings as the other takes: 2 to the server, 2 to the client of 3 that there might be. */
static void two_ends_agree(void **state) {
    (void)state;
    struct pair pair;
    begin(&pair);
    say(&pair, 1 + 1 + 2 + 2 + 1);
    struct rm_memif_message message;
    int file;
    assert_false(rm_memif_client_next(&pair.client, &message, &file));
    assert_true(pair.server.connected);
    assert_int_equal(pair.at_server.to_server_count, 2);
    assert_int_equal(pair.at_server.to_client_count, 2);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(pair.at_server.to_server[i].slots, 1 << SLOTS_LOG2);
        assert_true(pair.at_server.to_client[i].bell >= 0);
        pair.at_client.to_server[i].shared->tail = (uint16_t)(i + 7); // one memory
        assert_int_equal(pair.at_server.to_server[i].shared->tail, i + 7);
    }
    end(&pair);
}

static void expect_refusal(struct pair *pair, struct rm_memif_message message, int file, char const *words) {
    char const *const refusal = hand_over(pair, &message, file);
    assert_non_null(refusal);
    assert_non_null(strstr(refusal, words));
    assert_false(pair->server.connected);
}

static void other_versions_and_interfaces_are_refused(void **state) {
    (void)state;
    struct pair pair;
    begin(&pair);
    struct rm_memif_message message = {.type = RM_MEMIF_CONNECT};
    expect_refusal(&pair, message, -1, "INIT comes first");
    message.type = RM_MEMIF_INIT;
    message.init.version = 0x0100;
    expect_refusal(&pair, message, -1, "version");
    message.init.version = RM_MEMIF_VERSION;
    message.init.interface = 1;
    expect_refusal(&pair, message, -1, "interface 0");
    message.init.interface = 0;
    message.init.mode = 1;
    expect_refusal(&pair, message, -1, "ethernet");
    say(&pair, 1);
    message.init.mode = 0;
    expect_refusal(&pair, message, -1, "twice");
    for (uint32_t type = 0; type <= UINT16_MAX; type += type < 16 ? 1 : 4095)
        if (type < RM_MEMIF_INIT || type > RM_MEMIF_CONNECT)
            expect_refusal(&pair, (struct rm_memif_message){.type = (uint16_t)type}, -1, "no message for a server");

    struct rm_memif_message hello = {.type = RM_MEMIF_HELLO};
    hello.hello.lowest_version = hello.hello.highest_version = 0x0300;
    assert_non_null(rm_memif_client_greeted(&pair.client, &hello));
    hello.type = RM_MEMIF_ACK;
    assert_non_null(rm_memif_client_greeted(&pair.client, &hello));
    end(&pair);
}

static void impossible_regions_are_refused(void **state) {
    (void)state;
    struct pair pair;
    begin(&pair);
    say(&pair, 1);
    struct rm_memif_message message = {.type = RM_MEMIF_ADD_REGION};
    message.add_region.bytes = pair.at_client.regions.region[0].bytes;
    expect_refusal(&pair, message, -1, "without its file");
    message.add_region.index = 1;
    expect_refusal(&pair, message, pair.client.region_file, "out of order");
    message.add_region.index = 0;
    message.add_region.bytes += 1;
    expect_refusal(&pair, message, pair.client.region_file, "larger");
    message.add_region.bytes = UINT64_MAX;
    expect_refusal(&pair, message, pair.client.region_file, "larger");
    int const bell = eventfd(0, 0);
    expect_refusal(&pair, message, bell, "sealed");
    close(bell);
    end(&pair);
}

static void impossible_rings_are_refused(void **state) {
    (void)state;
    struct pair pair;
    begin(&pair);
    say(&pair, 2);
    struct rm_memif_message message = {.type = RM_MEMIF_ADD_RING};
    message.add_ring = (struct rm_memif_add_ring){.flags = RM_MEMIF_RING_TO_SERVER, .slots_log2 = SLOTS_LOG2};
    struct rm_memif_message wrong = message;
    wrong.add_ring.index = 2;
    expect_refusal(&pair, wrong, -1, "not so many");
    wrong.add_ring.index = 1;
    expect_refusal(&pair, wrong, -1, "out of order");
    wrong = message;
    wrong.add_ring.slots_log2 = 15;
    expect_refusal(&pair, wrong, -1, "too many slots");
    wrong.add_ring.slots_log2 = 255;
    expect_refusal(&pair, wrong, -1, "too many slots");
    wrong = message;
    wrong.add_ring.region = 1;
    expect_refusal(&pair, wrong, -1, "in its region");
    wrong = message;
    wrong.add_ring.offset = (uint32_t)pair.at_client.regions.region[0].bytes - 128;
    expect_refusal(&pair, wrong, -1, "in its region");
    wrong.add_ring.offset = 8;
    expect_refusal(&pair, wrong, -1, "in its region");
    wrong = message;
    wrong.add_ring.offset = 4096; // among the buffers
    assert_null(hand_over(&pair, &wrong, -1));
    expect_refusal(&pair, (struct rm_memif_message){.type = RM_MEMIF_CONNECT}, -1, "cookie");
    end(&pair);
}

/** A peer could make a thread wait for ever, or end the process, by a file that only says that it is an eventfd. */
static void only_an_eventfd_is_rung(void **state) {
    (void)state;
    struct pair pair;
    begin(&pair);
    say(&pair, 2);
    int endpoints[2];
    assert_int_equal(pipe(endpoints), 0);
    struct rm_memif_message message = {.type = RM_MEMIF_ADD_RING};
    message.add_ring.slots_log2 = SLOTS_LOG2;
    assert_null(hand_over(&pair, &message, endpoints[1]));
    assert_int_equal(pair.at_server.to_client[0].bell, -1);
    int const bell = eventfd(0, 0);
    message.add_ring.index = 1;
    assert_null(hand_over(&pair, &message, bell));
    assert_true(pair.at_server.to_client[1].bell >= 0);
    close(bell);
    close(endpoints[0]);
    close(endpoints[1]);
    end(&pair);
}

static int highest_file(void) {
    int const file = dup(0);
    close(file);
    return file;
}

/** What is too short, too long, or brings more files than it may is no message, and leaves no file open. */
static void what_is_no_message_leaves_no_file(void **state) {
    (void)state;
    int endpoints[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, endpoints), 0);
    struct rm_memif_message message = {.type = RM_MEMIF_ACK};
    int file;
    int const before = highest_file();
    assert_true(rm_memif_message_send(endpoints[0], &message, 0));
    assert_true(rm_memif_message_receive(endpoints[1], &message, &file));
    assert_true(file >= 0);
    close(file);
    uint8_t bytes[200] = {0};
    for (size_t length = 1; length <= sizeof bytes; length += 1 + (length == 127)) {
        union {
            struct cmsghdr carrier;
            uint8_t room[CMSG_SPACE(8 * sizeof(int))];
        } extra = {0};
        struct iovec part = {.iov_base = bytes, .iov_len = length};
        struct msghdr header = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
        extra.carrier = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(8 * sizeof(int))}; // 8 × file 0
        assert_int_equal(sendmsg(endpoints[0], &header, 0), length);
        assert_false(rm_memif_message_receive(endpoints[1], &message, &file));
        assert_int_equal(file, -1);
        assert_int_equal(highest_file(), before);
    }
    close(endpoints[0]);
    assert_false(rm_memif_message_receive(endpoints[1], &message, &file));
    assert_false(rm_memif_message_send(endpoints[1], &message, -1));
    close(endpoints[1]);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(two_ends_agree),
        cmocka_unit_test(other_versions_and_interfaces_are_refused),
        cmocka_unit_test(impossible_regions_are_refused),
        cmocka_unit_test(impossible_rings_are_refused),
        cmocka_unit_test(only_an_eventfd_is_rung),
        cmocka_unit_test(what_is_no_message_leaves_no_file),
    };
    return cmocka_run_group_tests_name("memif handshakes", tests, NULL, NULL);
}
