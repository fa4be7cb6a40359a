// SPDX-License-Identifier: Apache-2.0
/** The express lane against the general way: a long bad day, burst by burst, and what remains of it is the same. */
#include <stdlib.h>

#include "base/timebase.h"
#include "engine/test_express_alike.h"
#include "engine/test_express_general.h"
#include "engine/test_express_traffic.h"
#include "engine/test_receive_steps.h"
#include "wire/native.h"

enum {
    INSTRUMENTS = 6,
    BURSTS = 12000,
    RINGS_EVERY = 256, /**< bursts: less than a lap */
};

/** The same roles for each of the ways, and what they are sent. */
struct bench {
    struct rig *rig[EXPRESS_WAYS];
    uint64_t general[EXPRESS_WAYS];
    struct traffic traffic;
    uint64_t now;  /**< turns that the time stamp counter has seen */
    rm_turn shift; /**< from there to the machine's counter */
};

static struct rig *make_rig(enum rig_lane lane, uint32_t period, bool unlike) {
    struct rig *const rig = rig_make(&(struct rig_config){
        .instruments = INSTRUMENTS,
        .capacity = 4096,
        .chain_capacity = 512,
        .late_turns = 512,
        .ahead_turns = 1024,
        .silence_turns = 4096,
        .gap_turns = 8,
        .period = period,
        .reduction = {[1] = RM_REDUCE_OR},
        .unlike = unlike,
        .lane = lane,
    });
    static int64_t const offset[INSTRUMENTS] = {0, 30, -30, 0, 0, 1000000};
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        rm_counting_init(&rig->instrument[i]->counting, 64, false, period, offset[i]);
    rig->instrument[3]->lane_count = 1;
    rig->instrument[4]->lane_count = RM_LANES;
    rig->instrument[4]->kind = RM_KIND_POWER_SUPPLY;
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        rig_open(rig, i);
    return rig;
}

static struct bench *make_bench(uint32_t period, bool unlike) {
    struct bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    for (uint32_t way = 0; way < express_ways(); ++way)
        bench->rig[way] = make_rig(EXPRESS_LANE[way], period, unlike);
    bench->traffic = (struct traffic){.random = 0x9E3779B97F4A7C15, .period = period};
    bench->shift = 100 * START;
    traffic_set_turn(&bench->traffic, INSTRUMENTS, bench->shift);
    return bench;
}

static void free_bench(struct bench *bench) {
    for (uint32_t way = 0; way < express_ways(); ++way)
        rig_free(bench->rig[way]);
    free(bench);
}

static void push(struct bench *bench, struct traffic_frame const *frame) {
    for (uint32_t way = 0; way < express_ways(); ++way) {
        bench->rig[way]->port[0]->checksum_good = frame->checksum_good;
        rig_push(bench->rig[way], 0, 0, frame->bytes, frame->length);
    }
}

/** All that is due by now, from one instrument after another in any order. */
static void send_due(struct bench *bench) {
    struct traffic *const traffic = &bench->traffic;
    rm_turn const due = bench->now + bench->shift;
    for (uint32_t waiting = INSTRUMENTS; waiting > 0;) {
        uint32_t const index = traffic_random(traffic) % INSTRUMENTS;
        if (traffic->sender[index].next <= due) {
            struct traffic_frame frame;
            traffic_next(traffic, bench->rig[0], index, &frame);
            push(bench, &frame);
        }
        waiting = 0;
        for (uint32_t i = 0; i < INSTRUMENTS; ++i)
            waiting += traffic->sender[i].next <= due;
    }
}

/** The machine's counter now and then is elsewhere; or all is silent for a while. */
static void let_things_happen(struct bench *bench) {
    uint64_t const dice = traffic_random(&bench->traffic);
    switch (dice % 1024) {
    case 0:
        bench->shift += 1000000; /* a step */
        break;
    case 1:
        bench->shift -= 1000000 + (dice >> 10) % 1000; /* a new epoch */
        break;
    case 2:
        bench->shift += 400 * bench->traffic.period; /* all are early */
        break;
    case 3:
        bench->shift -= 50 * bench->traffic.period;
        break;
    case 4:
        bench->now += 3 * RIG_FOLLOW_TURNS;
        break;
    case 5:
        bench->now += 1000 * RIG_FOLLOW_TURNS;
        break;
    default:
        return;
    }
    traffic_set_turn(&bench->traffic, INSTRUMENTS, bench->now + bench->shift);
}

static void poll_all(struct bench *bench, int burst) {
    for (uint32_t way = 0; way < express_ways(); ++way) {
        express_general = 0;
        assert_null(rig_idle(bench->rig[way]));
        assert_null(rig_poll(bench->rig[way]));
        bench->general[way] += express_general;
        char const *unlike = unlike_states(bench->rig[0], bench->rig[way]);
        if (unlike == NULL && (burst % RINGS_EVERY == 0 || burst + 1 == BURSTS))
            unlike = unlike_rings(bench->rig[0], bench->rig[way]);
        if (unlike != NULL)
            fail_msg("after burst %d lane %d has other %s than the general way", burst, EXPRESS_LANE[way], unlike);
    }
}

/** Each of these happened, or the comparison shows nothing. */
static void expect_a_bad_day(struct rig const *rig) {
    static enum rm_port_counter const port[] = {
        RM_PORT_DECODED,        RM_PORT_TRUNCATED,       RM_PORT_NOT_UDP,   RM_PORT_FRAGMENT,
        RM_PORT_NOT_OUR_PORT,   RM_PORT_BAD_IP_HEADER,   RM_PORT_BAD_MAGIC, RM_PORT_BAD_UDP_CHECKSUM,
        RM_PORT_UNKNOWN_SOURCE, RM_PORT_UNKNOWN_VERSION, RM_PORT_TOO_SHORT, RM_PORT_UNKNOWN_INSTRUMENT,
        RM_PORT_WRONG_KIND,     RM_PORT_WRONG_LANES,     RM_PORT_TOO_LONG,
    };
    static enum rm_stream_counter const stream[] = {
        RM_STREAM_ACCEPTED,    RM_STREAM_LATE,        RM_STREAM_DUPLICATE,    RM_STREAM_TURN_AHEAD,
        RM_STREAM_TURN_BEHIND, RM_STREAM_PASSED_OVER, RM_STREAM_FAST_MISSING, RM_STREAM_EPOCHS,
    };
    for (unsigned i = 0; i < sizeof port / sizeof port[0]; ++i)
        if (rig_port_count(rig, port[i]) == 0)
            fail_msg("port counter %d never counted", port[i]);
    for (unsigned i = 0; i < sizeof stream / sizeof stream[0]; ++i)
        assert_true(rig_count(rig, 0, stream[i]) > 0);
    assert_true(rig_clock_count(rig, RM_CLOCK_ANCHORS) > rig_count(rig, 0, RM_STREAM_EPOCHS) + 1);
}

static void compare_a_bad_day(uint32_t period, bool unlike) {
    struct bench *const bench = make_bench(period, unlike);
    for (int burst = 0; burst < BURSTS; ++burst) {
        bench->now += 1 + traffic_random(&bench->traffic) % 7 * period;
        let_things_happen(bench);
        rig_set_tsc(rig_tsc_of(bench->now));
        send_due(bench);
        poll_all(bench, burst);
    }
    expect_a_bad_day(bench->rig[0]);
    uint64_t const received = rig_port_count(bench->rig[0], RM_PORT_RECEIVED);
    assert_int_equal(bench->general[0], received);
    for (uint32_t way = 1; way < express_ways(); ++way) {
        print_message("lane %d: %llu of %llu packets took the general way\n", EXPRESS_LANE[way],
                      (unsigned long long)bench->general[way], (unsigned long long)received);
        assert_int_equal(bench->general[way], unlike ? received : bench->general[1]);
    }
    assert_true(unlike || bench->general[1] < received / 2);
    free_bench(bench);
}

static void all_ways_are_alike(void **state) {
    (void)state;
    compare_a_bad_day(1, false);
}

static void so_they_are_with_a_record_every_ten_turns(void **state) {
    (void)state;
    compare_a_bad_day(10, false);
}

static void unlike_decimations_take_the_general_way(void **state) {
    (void)state;
    compare_a_bad_day(1, true);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(all_ways_are_alike),
        cmocka_unit_test(so_they_are_with_a_record_every_ten_turns),
        cmocka_unit_test(unlike_decimations_take_the_general_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
