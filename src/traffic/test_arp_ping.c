// SPDX-License-Identifier: Apache-2.0
/** Two ports that ask each other, in a time of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traffic/arp_ping.h"

enum { OURS = 0x0A000001, THEIRS = 0x0A000002 };

/* a tick is a microsecond */
static double const TSC_HZ = 1e6;
static uint64_t const SECOND = 1000000;

static struct rm_arp_ping_identity const we = {.mac = {2, 0, 0, 0, 0, 1}, .ipv4 = OURS};
static struct rm_arp_ping_identity const they = {.mac = {2, 0, 0, 0, 0, 2}, .ipv4 = THEIRS};

/** The link between the two: what it does with each frame that we send and with each answer. */
struct link {
    /** Ticks on each way. */
    uint64_t delay;
    /** Of our frames, every so many is lost; 0: none. */
    uint32_t lose_every;
    /** Answers come twice. */
    bool twice;
    uint32_t frames;
};

static struct rm_arp_ping ours, theirs;

static int begin(void **state) {
    (void)state;
    ours = theirs = (struct rm_arp_ping){.busy = false};
    rm_arp_ping_init(&ours, TSC_HZ);
    rm_arp_ping_init(&theirs, TSC_HZ);
    rm_arp_ping_answer_for(&theirs, &they);
    return 0;
}

/** Runs until nothing is due any more; returns the time. */
static uint64_t run(struct link *link, uint64_t tsc) {
    uint8_t sent[RM_SEND_BYTES], answer[RM_SEND_BYTES], none[RM_SEND_BYTES];
    uint64_t const end = tsc + 1000 * SECOND;
    for (; tsc < end && (ours.busy || rm_arp_ping_is_due(&ours, tsc)); tsc += SECOND / 1000) {
        if (!rm_arp_ping_is_due(&ours, tsc))
            continue;
        uint32_t const length = rm_arp_ping_write(&ours, tsc, sent);
        if (length == 0)
            continue;
        rm_arp_ping_sent(&ours, tsc);
        ++link->frames;
        if (link->lose_every != 0 && link->frames % link->lose_every == 0)
            continue;
        assert_int_equal(rm_arp_ping_concerns(sent, length), true);
        uint32_t const answered = rm_arp_ping_take(&theirs, sent, length, tsc + link->delay, answer);
        for (int i = 0; answered != 0 && i < 1 + link->twice; ++i)
            assert_int_equal(rm_arp_ping_take(&ours, answer, answered, tsc + 2 * link->delay, none), 0);
    }
    assert_true(tsc < end);
    return tsc;
}

static struct rm_arp_ping_request request_of(enum rm_arp_ping_what what, uint32_t count) {
    return (struct rm_arp_ping_request){
        .what = what, .from = we, .target_ipv4 = THEIRS, .count = count, .interval_ns = 100000000, .content_bytes = 56};
}

static void ask(enum rm_arp_ping_what what, uint32_t count) {
    struct rm_arp_ping_request const request = request_of(what, count);
    assert_int_equal(rm_arp_ping_ask(&ours, &request, NULL), RM_OK);
}

static void assert_printed(char const *expected) {
    char text[256] = "";
    struct rm_arp_ping_result result;
    rm_arp_ping_result(&ours, &result);
    FILE *const out = fmemopen(text, sizeof text, "w");
    rm_arp_ping_print(&result, out);
    fclose(out);
    assert_string_equal(text, expected);
}

static void a_ping_is_answered_in_its_time(void **state) {
    (void)state;
    assert_printed("nothing was asked yet\n");
    struct link link = {.delay = 50};
    ask(RM_ARP_PING_PING, 200);
    run(&link, SECOND);
    struct rm_arp_ping_result result;
    rm_arp_ping_result(&ours, &result);
    assert_int_equal(result.state, RM_ARP_PING_DONE);
    assert_int_equal(result.sent, 200);
    assert_int_equal(result.answered, 200);
    assert_int_equal(link.frames, 201);
    assert_memory_equal(result.target_mac, they.mac, 6);
    assert_printed("10.0.0.2 is at 02:00:00:00:00:02: 200 of 200 pings answered in 100.0/100.0/100.0 us "
                   "(least/mean/most), the last in 100.0 us\n");
}

static void lost_and_repeated_pings_are_counted(void **state) {
    (void)state;
    struct link link = {.delay = 10, .lose_every = 5, .twice = true};
    ask(RM_ARP_PING_PING, 8); /* the ARP request is the first frame, so the fourth echo is lost */
    run(&link, SECOND);
    struct rm_arp_ping_result result;
    rm_arp_ping_result(&ours, &result);
    assert_int_equal(result.state, RM_ARP_PING_DONE);
    assert_int_equal(result.sent, 8);
    assert_int_equal(result.answered, 7);
    assert_true(result.repeated >= 6); /* the second copy of the last answer comes when all is done */
}

static void an_answer_after_a_second_is_none(void **state) {
    (void)state;
    struct link link = {.delay = 10};
    ask(RM_ARP_PING_ARP, 0);
    run(&link, SECOND);
    assert_printed("10.0.0.2 is at 02:00:00:00:00:02\n");
    link.delay = SECOND / 2 + 1;
    ask(RM_ARP_PING_PING, 3);
    run(&link, 10 * SECOND);
    struct rm_arp_ping_result result;
    rm_arp_ping_result(&ours, &result);
    assert_int_equal(result.answered, 0);
    assert_int_equal(result.sent, 3);
    assert_true(result.last_us == 0);
}

static void who_does_not_answer_is_asked_three_times(void **state) {
    (void)state;
    struct link link = {.delay = 10};
    rm_arp_ping_answer_for(&theirs, NULL);
    ask(RM_ARP_PING_PING, 3);
    uint64_t const took = run(&link, SECOND);
    assert_int_equal(link.frames, 3);
    assert_true(took >= 4 * SECOND);
    assert_printed("10.0.0.2: nobody has told its MAC address\n");
}

static void an_announcement_is_sent_once(void **state) {
    (void)state;
    struct link link = {.delay = 10};
    ask(RM_ARP_PING_ANNOUNCE, 0);
    run(&link, SECOND);
    assert_int_equal(link.frames, 1);
    assert_printed("announced\n");
}

static void a_frame_that_the_link_does_not_take_is_due_again(void **state) {
    (void)state;
    uint8_t frame[RM_SEND_BYTES], again[RM_SEND_BYTES];
    ask(RM_ARP_PING_ARP, 0);
    uint32_t const length = rm_arp_ping_write(&ours, SECOND, frame);
    assert_int_equal(rm_arp_ping_write(&ours, SECOND + 1, again), length);
    assert_memory_equal(frame, again, length);
    /* but not for ever, or nothing else could be asked */
    assert_int_equal(rm_arp_ping_write(&ours, 5 * SECOND, again), 0);
    assert_false(ours.busy);
    assert_printed("given up: the link takes no frame, 0 pings were sent and 0 answered\n");
    ask(RM_ARP_PING_ARP, 0);
    assert_int_equal(rm_arp_ping_write(&ours, 60 * SECOND, again), length);
}

static void one_request_at_a_time(void **state) {
    (void)state;
    struct link link = {.delay = 10};
    struct rm_error error;
    struct rm_arp_ping_request const request = request_of(RM_ARP_PING_PING, 3);
    ask(RM_ARP_PING_PING, 3);
    assert_int_equal(rm_arp_ping_ask(&ours, &request, &error), RM_E_BUSY);
    assert_non_null(strstr(error.text, "10.0.0.2"));
    uint8_t frame[RM_SEND_BYTES];
    rm_arp_ping_write(&ours, SECOND, frame);
    assert_int_equal(rm_arp_ping_ask(&ours, &request, &error), RM_E_BUSY);
    assert_non_null(strstr(error.text, "10.0.0.2"));
    run(&link, SECOND);
    assert_int_equal(rm_arp_ping_ask(&ours, &request, &error), RM_OK);
}

static void impossible_requests_are_refused(void **state) {
    (void)state;
    for (int i = 0; i < 5; ++i) {
        struct rm_arp_ping_request request = request_of(RM_ARP_PING_PING, 3);
        if (i == 0)
            request.count = 0;
        if (i == 1)
            request.interval_ns = 15000000;
        if (i == 2)
            request.content_bytes = RM_PING_CONTENT_MAX + 1;
        if (i == 3)
            request.target_ipv4 = OURS;
        if (i == 4)
            request.from.ipv4 = 0;
        struct rm_error error;
        assert_int_equal(rm_arp_ping_ask(&ours, &request, &error), RM_E_ARGUMENT);
        assert_non_null(strstr(error.text, "expected"));
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup(a_ping_is_answered_in_its_time, begin),
        cmocka_unit_test_setup(lost_and_repeated_pings_are_counted, begin),
        cmocka_unit_test_setup(an_answer_after_a_second_is_none, begin),
        cmocka_unit_test_setup(who_does_not_answer_is_asked_three_times, begin),
        cmocka_unit_test_setup(an_announcement_is_sent_once, begin),
        cmocka_unit_test_setup(a_frame_that_the_link_does_not_take_is_due_again, begin),
        cmocka_unit_test_setup(one_request_at_a_time, begin),
        cmocka_unit_test_setup(impossible_requests_are_refused, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
