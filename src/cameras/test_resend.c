// SPDX-License-Identifier: Apache-2.0
/** Requests to send packets again: what is asked for and when, over a simulated time in microseconds; and a camera behind
 * a link that loses packets both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cameras/resend.h"

enum {
    MONO8 = 0x01080001,
    EACH = 16,
    WIDTH = 1600,
    FRAGMENTS = WIDTH / EACH,
    TRAILER = FRAGMENTS + 1,
    SECOND = 1000000,
    DEADLINE = 100000,
    REORDER = 500,
    QUIET = DEADLINE / 2,
    TIMEOUT = 5000,
};

struct bench {
    struct rm_assembly *assembly;
    struct rm_resend *resend;
    uint16_t payload_type;
    bool extended_ids;
    uint64_t now;
    struct rm_gvcp_resend request[RM_RESEND_REQUESTS];
    uint32_t count;
};

static uint8_t const pixels[EACH];

static struct bench bench_make_with(struct rm_resend_settings settings, bool extended_ids) {
    struct rm_assembly_settings const assembly = {.slots = 8,
                                                  .bytes_max = 2 * WIDTH,
                                                  .fragments_max = 2 * FRAGMENTS,
                                                  .deadline_ticks = DEADLINE,
                                                  .restart_ticks = SECOND,
                                                  .later = 4,
                                                  .incomplete = RM_INCOMPLETE_DELIVER,
                                                  .short_numbers = !extended_ids};
    settings.slots = assembly.slots;
    settings.fragments_max = assembly.fragments_max;
    struct bench const bench = {.assembly = rm_assembly_new(&assembly),
                                .resend = rm_resend_new(&settings),
                                .payload_type = RM_GVSP_IMAGE,
                                .extended_ids = extended_ids,
                                .now = 1000};
    assert_non_null(bench.assembly);
    assert_non_null(bench.resend);
    return bench;
}

static struct bench bench_make(void) { return bench_make_with(rm_resend_usual(100, DEADLINE, SECOND), true); }

static void bench_free(struct bench *bench) {
    rm_resend_free(bench->resend);
    rm_assembly_free(bench->assembly);
}

/** Packet 0 is the leader, TRAILER the trailer. */
static void put_packet(struct bench *bench, uint64_t block, uint32_t id) {
    struct rm_gvsp_packet packet = {.extended_ids = bench->extended_ids,
                                    .format = RM_GVSP_PAYLOAD,
                                    .block = block,
                                    .packet = id,
                                    .payload_type = bench->payload_type};
    if (id == 0) {
        packet.format = RM_GVSP_LEADER;
        packet.has_geometry = true;
        packet.geometry = (struct rm_image_geometry){.pixel_format = MONO8, .width = WIDTH, .height = 1};
    } else if (id == TRAILER) {
        packet.format = RM_GVSP_TRAILER;
        packet.block_bytes = bench->payload_type & RM_GVSP_CHUNKS ? WIDTH : 0;
    } else {
        packet.bytes = pixels;
        packet.length = EACH;
    }
    struct rm_image_fragment fragment;
    assert_true(rm_gvsp_fragment(&packet, EACH, &fragment));
    rm_assembly_put(bench->assembly, &fragment, bench->now);
    rm_resend_note(bench->resend, &packet);
}

static void put_packets(struct bench *bench, uint64_t block, uint32_t first, uint32_t last) {
    for (uint32_t id = first; id <= last; ++id)
        put_packet(bench, block, id);
}

static void poll_at(struct bench *bench, uint64_t now) {
    bench->now = now;
    bench->count = rm_resend_poll(bench->resend, bench->assembly, now, bench->request);
}

static void asked_is(struct bench const *bench, uint32_t index, uint64_t block, uint32_t first, uint32_t last) {
    assert_true(index < bench->count);
    assert_true(bench->request[index].block == block);
    assert_int_equal(bench->request[index].first, first);
    assert_int_equal(bench->request[index].last, last);
    assert_true(bench->request[index].request != 0);
    assert_true(bench->request[index].extended_ids == bench->extended_ids);
}

/** Polls every 100 us up to a time. Returns when something was asked for, or 0. */
static uint64_t poll_until(struct bench *bench, uint64_t end) {
    while (bench->now < end) {
        poll_at(bench, bench->now + 100);
        if (bench->count != 0)
            return bench->now;
    }
    return 0;
}

static void impossible_settings_make_nothing(void **state) {
    (void)state;
    struct rm_resend_settings settings = rm_resend_usual(10, DEADLINE, SECOND);
    settings.fragments_max = 10;
    assert_null(rm_resend_new(&settings)); // no slots
    settings.slots = 4;
    settings.percent = 100.5;
    assert_null(rm_resend_new(&settings));
    settings.percent = 10;
    settings.tries = RM_RESEND_TRIES_MAX + 1;
    assert_null(rm_resend_new(&settings));
    rm_resend_free(NULL);
}

static void a_stream_without_loss_asks_for_nothing(void **state) {
    (void)state;
    struct bench bench = bench_make();
    for (uint64_t block = 1; block <= 20; ++block) {
        for (uint32_t id = 0; id <= TRAILER; ++id) {
            put_packet(&bench, block, id);
            poll_at(&bench, bench.now + 100);
            assert_int_equal(bench.count, 0);
        }
        struct rm_image const *const image = rm_assembly_take(bench.assembly);
        assert_non_null(image);
        rm_assembly_release(bench.assembly, image);
    }
    bench_free(&bench);
}

static void packets_out_of_order_are_given_their_time(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, 4);
    put_packets(&bench, 1, 6, 20); // 5 is missing, with 15 behind it
    poll_at(&bench, 2000);
    assert_int_equal(bench.count, 0);
    poll_at(&bench, 2000 + REORDER);
    assert_int_equal(bench.count, 0);
    put_packet(&bench, 1, 5);
    assert_int_equal(poll_until(&bench, 4000), 0);
    bench_free(&bench);
}

static void a_gap_is_asked_for_when_its_time_is_over(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, 4);
    put_packets(&bench, 1, 7, 20); // 5 and 6 are missing
    poll_at(&bench, 2000);
    assert_int_equal(bench.count, 0);
    poll_at(&bench, 2000 + REORDER + 1);
    assert_int_equal(bench.count, 1);
    asked_is(&bench, 0, 1, 5, 6);
    bench_free(&bench);
}

static void a_gap_is_asked_for_at_once_when_many_are_behind_it(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 7, 0, 4);
    put_packets(&bench, 7, 6, 8);
    put_packets(&bench, 7, 10, 25); // 5 and 9 are missing, the latter with 16 behind it
    poll_at(&bench, 2000);
    assert_int_equal(bench.count, 2);
    asked_is(&bench, 0, 7, 5, 5);
    asked_is(&bench, 1, 7, 9, 9);
    assert_int_equal(rm_resend_asked(bench.resend, rm_assembly_in_flight(bench.assembly, NULL)), 2);
    bench_free(&bench);
}

static void what_does_not_come_is_asked_for_again_and_then_no_more(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, 4);
    put_packets(&bench, 1, 6, TRAILER);
    uint64_t last = poll_until(&bench, 3000);
    for (uint32_t repeat = 0; repeat < 4; ++repeat) {
        uint64_t const next = poll_until(&bench, last + DEADLINE);
        assert_in_range(next - last, (TIMEOUT << repeat), (TIMEOUT << repeat) + 200);
        asked_is(&bench, 0, 1, 5, 5);
        last = next;
    }
    assert_int_equal(poll_until(&bench, 2 * DEADLINE), 0);
    assert_int_equal(rm_resend_counts(bench.resend)->packets, 5);
    assert_int_equal(rm_resend_counts(bench.resend)->requests, 5);
    assert_int_equal(rm_resend_counts(bench.resend)->repeats, 4);
    bench_free(&bench);
}

static void the_end_of_a_frame_is_not_asked_for_while_it_is_sent(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, 50);
    assert_int_equal(poll_until(&bench, 1000 + QUIET - 200), 0);
    put_packet(&bench, 1, TRAILER); // 51 and those behind it are lost
    uint64_t const asked = poll_until(&bench, DEADLINE);
    assert_in_range(asked, 1000 + QUIET - 200 + REORDER, 1000 + QUIET + REORDER);
    asked_is(&bench, 0, 1, 51, FRAGMENTS);
    bench_free(&bench);
}

static void the_end_of_a_frame_is_asked_for_behind_a_newer_one(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, FRAGMENTS - 1); // the last packet and the trailer are lost
    put_packets(&bench, 2, 0, 3);
    assert_in_range(poll_until(&bench, DEADLINE), 1000 + REORDER, 1000 + 2 * REORDER);
    asked_is(&bench, 0, 1, FRAGMENTS, FRAGMENTS);
    bench_free(&bench);
}

static void the_end_of_a_frame_is_asked_for_when_nothing_comes(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, FRAGMENTS - 1);
    assert_in_range(poll_until(&bench, DEADLINE), 1000 + QUIET, 1000 + QUIET + 2 * REORDER);
    asked_is(&bench, 0, 1, FRAGMENTS, FRAGMENTS);
    bench_free(&bench);
}

/** Without it nothing is known of the end: only what is before the furthest packet is asked for. */
static void the_leader_is_asked_for_and_nothing_beyond_what_came(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 2, 30);
    put_packet(&bench, 2, 0);
    poll_until(&bench, DEADLINE);
    assert_int_equal(bench.count, 1);
    asked_is(&bench, 0, 1, 0, 1);
    bench_free(&bench);
}

/** With chunks the trailer tells the total. */
static void of_a_frame_without_a_total_the_next_packet_alone_is_asked_for(void **state) {
    (void)state;
    struct bench bench = bench_make();
    bench.payload_type = RM_GVSP_IMAGE | RM_GVSP_CHUNKS;
    put_packets(&bench, 1, 0, FRAGMENTS - 1);
    put_packet(&bench, 2, 0);
    poll_until(&bench, DEADLINE);
    assert_int_equal(bench.count, 1);
    asked_is(&bench, 0, 1, FRAGMENTS, FRAGMENTS);
    put_packet(&bench, 1, FRAGMENTS);
    poll_until(&bench, DEADLINE);
    assert_int_equal(bench.count, 1);
    asked_is(&bench, 0, 1, TRAILER, TRAILER);
    put_packet(&bench, 1, TRAILER);
    assert_non_null(rm_assembly_take(bench.assembly));
    bench_free(&bench);
}

static void a_frames_packets_are_bounded_by_its_percentage(void **state) {
    (void)state;
    struct bench bench = bench_make_with(rm_resend_usual(10, DEADLINE, SECOND), true);
    put_packets(&bench, 1, 0, 10);
    put_packets(&bench, 1, 41, TRAILER); // 30 of 102 are missing; 10.2 are allowed
    poll_until(&bench, 3000);
    asked_is(&bench, 0, 1, 11, 21);
    while (bench.now < DEADLINE)
        poll_at(&bench, bench.now + 100);
    assert_int_equal(rm_resend_counts(bench.resend)->packets, 11);
    assert_int_equal(rm_resend_counts(bench.resend)->frames_over_budget, 1);
    bench_free(&bench);
}

static void nothing_is_asked_for_at_0_percent(void **state) {
    (void)state;
    struct bench bench = bench_make_with(rm_resend_usual(0, DEADLINE, SECOND), true);
    put_packet(&bench, 1, 0);
    put_packet(&bench, 1, TRAILER);
    assert_int_equal(poll_until(&bench, DEADLINE), 0);
    bench_free(&bench);
}

static void a_second_has_its_bound(void **state) {
    (void)state;
    struct rm_resend_settings settings = rm_resend_usual(100, DEADLINE, SECOND);
    settings.packets_per_second = 200;
    struct bench bench = bench_make_with(settings, true);
    put_packet(&bench, 1, 0);
    put_packets(&bench, 1, FRAGMENTS, TRAILER); // 99 are missing
    poll_until(&bench, 3000);
    asked_is(&bench, 0, 1, 1, 20); // a tenth of a second's
    uint64_t const begun = bench.now;
    while (bench.now < begun + 50000)
        poll_at(&bench, bench.now + 100);
    assert_in_range(rm_resend_counts(bench.resend)->packets, 29, 30);
    assert_true(rm_resend_counts(bench.resend)->polls_over_budget > 0);
    bench_free(&bench);
}

static void nothing_is_asked_for_at_the_deadline(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, 4);
    put_packets(&bench, 1, 6, TRAILER);
    poll_at(&bench, 1000 + DEADLINE);
    poll_at(&bench, 1000 + 2 * DEADLINE);
    assert_int_equal(rm_resend_counts(bench.resend)->packets, 0);
    bench_free(&bench);
}

static void what_the_camera_no_longer_has_is_not_asked_for_again(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packets(&bench, 1, 0, 4);
    put_packets(&bench, 1, 7, TRAILER);
    poll_until(&bench, 3000);
    asked_is(&bench, 0, 1, 5, 6);
    struct rm_gvsp_packet const gone = {
        .status = RM_GVSP_STATUS_UNAVAILABLE, .extended_ids = true, .format = RM_GVSP_PAYLOAD, .block = 1, .packet = 5};
    rm_resend_note(bench.resend, &gone);
    poll_until(&bench, DEADLINE);
    assert_int_equal(bench.count, 1);
    asked_is(&bench, 0, 1, 6, 6);
    assert_int_equal(rm_resend_counts(bench.resend)->unavailable, 1);
    struct rm_gvsp_packet far = gone;
    far.packet = UINT32_MAX;
    rm_resend_note(bench.resend, &far);
    bench_free(&bench);
}

static void many_gaps_take_several_polls(void **state) {
    (void)state;
    struct bench bench = bench_make();
    put_packet(&bench, 1, 0);
    for (uint32_t id = 2; id <= FRAGMENTS; id += 2)
        put_packet(&bench, 1, id);
    put_packet(&bench, 1, TRAILER); // 50 gaps of one packet
    poll_until(&bench, 3000);
    assert_int_equal(bench.count, RM_RESEND_REQUESTS);
    poll_at(&bench, bench.now);
    assert_true(bench.count > 0);
    while (bench.now < 1000 + TIMEOUT)
        poll_at(&bench, bench.now + 100);
    assert_int_equal(rm_resend_counts(bench.resend)->requests, FRAGMENTS / 2);
    assert_int_equal(rm_resend_counts(bench.resend)->packets, FRAGMENTS / 2);
    bench_free(&bench);
}

/** A camera that loses one in `loss` packets, the ones that it sends again too, and as many requests; what is sent again
 * comes after `answer_us`. Returns the packets that were asked for. */
struct answer {
    uint64_t at;
    struct rm_gvcp_resend request;
};

enum { ANSWERS_MAX = 4096, LOSS = 100, ANSWER_TICKS = 2000, PACKET_TICKS = 20, FRAME_TICKS = 33000 };

static bool is_lost(void) { return random() % LOSS == 0; }

static void camera_answer(struct bench *bench, struct answer *answers, uint32_t *count) {
    for (uint32_t i = 0; i < *count; ++i) {
        if (answers[i].at > bench->now)
            continue;
        struct rm_gvcp_resend const request = answers[i].request;
        answers[i--] = answers[--*count];
        for (uint32_t id = request.first; id <= request.last; ++id)
            if (!is_lost())
                put_packet(bench, request.block, id);
    }
}

static void camera_hear(struct bench *bench, struct answer *answers, uint32_t *count) {
    for (uint32_t i = 0; i < bench->count; ++i)
        if (!is_lost() && *count < ANSWERS_MAX)
            answers[(*count)++] = (struct answer){.at = bench->now + ANSWER_TICKS, .request = bench->request[i]};
}

static void every_frame_is_whole_behind_a_link_that_loses_1_percent(void **state) {
    bool const extended_ids = *state != NULL;
    enum { FRAMES = 400 };
    struct bench bench = bench_make_with(rm_resend_usual(10, DEADLINE, SECOND), extended_ids);
    static struct answer answers[ANSWERS_MAX];
    uint32_t answer_count = 0, whole = 0;
    uint64_t block = extended_ids ? 1 : 65535 - FRAMES / 2;
    srandom(1);
    uint32_t lost_at_all = 0;
    for (uint32_t frame = 0; frame <= FRAMES; ++frame) {
        uint64_t const begun = bench.now;
        for (uint32_t id = 0; bench.now < begun + FRAME_TICKS; bench.now += PACKET_TICKS, ++id) {
            bool const lost = id <= TRAILER && is_lost();
            lost_at_all += lost;
            if (id <= TRAILER && !lost && frame < FRAMES)
                put_packet(&bench, block, id);
            camera_answer(&bench, answers, &answer_count);
            poll_at(&bench, bench.now);
            camera_hear(&bench, answers, &answer_count);
            rm_assembly_expire(bench.assembly, bench.now);
            for (struct rm_image const *image; (image = rm_assembly_take(bench.assembly)) != NULL;) {
                whole += image->status == RM_IMAGE_WHOLE;
                assert_true(rm_resend_asked(bench.resend, image) <= 11);
                rm_assembly_release(bench.assembly, image);
            }
        }
        block = !extended_ids && block == 65535 ? 1 : block + 1;
    }
    assert_true(lost_at_all > FRAMES / 2);
    assert_int_equal(whole, FRAMES);
    assert_true(rm_resend_counts(bench.resend)->packets >= lost_at_all / 2);
    assert_true(rm_resend_counts(bench.resend)->packets <= 2 * lost_at_all);
    assert_int_equal(rm_resend_counts(bench.resend)->frames_over_budget, 0);
    bench_free(&bench);
}

int main(void) {
    static bool extended = true;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(impossible_settings_make_nothing),
        cmocka_unit_test(a_stream_without_loss_asks_for_nothing),
        cmocka_unit_test(packets_out_of_order_are_given_their_time),
        cmocka_unit_test(a_gap_is_asked_for_when_its_time_is_over),
        cmocka_unit_test(a_gap_is_asked_for_at_once_when_many_are_behind_it),
        cmocka_unit_test(what_does_not_come_is_asked_for_again_and_then_no_more),
        cmocka_unit_test(the_end_of_a_frame_is_not_asked_for_while_it_is_sent),
        cmocka_unit_test(the_end_of_a_frame_is_asked_for_behind_a_newer_one),
        cmocka_unit_test(the_end_of_a_frame_is_asked_for_when_nothing_comes),
        cmocka_unit_test(the_leader_is_asked_for_and_nothing_beyond_what_came),
        cmocka_unit_test(of_a_frame_without_a_total_the_next_packet_alone_is_asked_for),
        cmocka_unit_test(a_frames_packets_are_bounded_by_its_percentage),
        cmocka_unit_test(nothing_is_asked_for_at_0_percent),
        cmocka_unit_test(a_second_has_its_bound),
        cmocka_unit_test(nothing_is_asked_for_at_the_deadline),
        cmocka_unit_test(what_the_camera_no_longer_has_is_not_asked_for_again),
        cmocka_unit_test(many_gaps_take_several_polls),
        cmocka_unit_test(every_frame_is_whole_behind_a_link_that_loses_1_percent),
        cmocka_unit_test_prestate(every_frame_is_whole_behind_a_link_that_loses_1_percent, &extended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
