// SPDX-License-Identifier: Apache-2.0
/** The fast path against the general path: a long bad day, burst by burst, and what remains of it is the same. */
#include <stdlib.h>

#include <string.h>

#include "base/timebase.h"
#include "engine/test_fast_path_alike.h"
#include "engine/test_fast_path_general.h"
#include "engine/test_fast_path_layouts.h"
#include "engine/test_fast_path_traffic.h"
#include "engine/test_receive_steps.h"
#include "wire/native.h"

enum {
    NATIVES = 6,
    INSTRUMENTS = 12,
    CALIBRATED = 11,
    BURSTS = 12000,
    STATES_EVERY = 5,  /**< bursts: less than a group of the decimators where few come, more where many do */
    RINGS_EVERY = 256, /**< bursts: less than a lap */
};

/** What kind of day it is. */
struct day {
    uint32_t period; /**< of all instruments */
    bool unlike;     /**< filters that decimate unlike: nothing takes the fast path */
    bool apart;      /**< what is native comes by one queue, what is described by the other, in one layout */
};

/** The same roles for each of the ways, and what they are sent. */
struct bench {
    struct day day;
    struct receive_rig *rig[FAST_PATH_WAYS];
    struct rm_layout *layout[FAST_PATH_WAYS][FAST_PATH_LAYOUTS];
    struct rm_calibration_compiled calibration;
    uint64_t general[FAST_PATH_WAYS];
    struct traffic traffic;
    uint64_t now;  /**< turns that the time stamp counter has seen */
    rm_turn shift; /**< from there to the machine's counter */
};

/** Two of one sender, in one layout and in another; one from where a native one sends; ids that others have too. */
static struct {
    enum fast_path_layout layout;
    uint32_t source_ipv4;
    uint16_t id;
    int64_t offset;
} const DESCRIBED[INSTRUMENTS - NATIVES] = {
    {FAST_PATH_BIG, 0x0A150001, 0x23, 0},  {FAST_PATH_BIG, 0x0A150001, 0x24, 40},
    {FAST_PATH_SHORT, 0x0A150001, 5, -50}, {FAST_PATH_SHIFTED, 0x0A140001, 0x23, 0},
    {FAST_PATH_WIDE, 0x0A14000B, 11, 10},  {FAST_PATH_BIG, 0x0A150002, 0x24, 0},
};

static void describe(struct bench *bench, uint32_t way) {
    struct receive_rig *const rig = bench->rig[way];
    for (uint32_t i = 0; i < FAST_PATH_LAYOUTS; ++i)
        bench->layout[way][i] = fast_path_compile((enum fast_path_layout)i, FAST_PATH[way]);
    rig->instrument[CALIBRATED]->calibration = &bench->calibration;
    for (uint32_t i = NATIVES; i < INSTRUMENTS; ++i) {
        enum fast_path_layout const which = bench->day.apart ? FAST_PATH_SHORT : DESCRIBED[i - NATIVES].layout;
        struct rm_layout const *const layout = bench->layout[way][which];
        rm_counting_init(&rig->instrument[i]->counting, rm_layout_counter_bits(layout), true, bench->day.period,
                         DESCRIBED[i - NATIVES].offset);
        rig_describe(rig, i, layout, fast_path_port(which), DESCRIBED[i - NATIVES].source_ipv4,
                     DESCRIBED[i - NATIVES].id);
    }
    rig->receive.vote_count = NATIVES; /* they come first, and tell */
    if (!bench->day.apart)
        return;
    rig->queue[0].format_count = rig->queue[1].format_count = 1;
    rig->queue[1].format = &rig->format[1];
}

static struct receive_rig *make_rig(enum rig_fast_path lane, struct day const *day) {
    struct receive_rig *const rig = rig_make(&(struct receive_rig_config){
        .instruments = INSTRUMENTS,
        .capacity = 4096,
        .chain_capacity = 512,
        .late_turns = 512,
        .ahead_turns = 1024,
        .silence_turns = 4096,
        .gap_turns = 8,
        .period = day->period,
        .reduction = {[1] = RM_REDUCE_OR},
        .queues = day->apart ? 2 : 1,
        .unlike = day->unlike,
        .lane = lane,
    });
    static int64_t const offset[NATIVES] = {0, 30, -30, 0, 0, 1000000};
    for (uint32_t i = 0; i < NATIVES; ++i)
        rm_counting_init(&rig->instrument[i]->counting, 64, false, day->period, offset[i]);
    rig->instrument[3]->lane_count = 1;
    rig->instrument[4]->lane_count = RM_LANES;
    rig->instrument[4]->kind = RM_KIND_POWER_SUPPLY;
    for (uint32_t i = 0; i < NATIVES; ++i)
        rig_open(rig, i);
    return rig;
}

static void make_calibration(struct rm_calibration_compiled *compiled) {
    struct rm_lane_info const lanes[RM_LANES] = {{.name = ""}};
    struct rm_calibration calibration;
    rm_calibration_identity(&calibration, lanes, RIG_LANES);
    rm_calibration_compile(&calibration, lanes, compiled);
    compiled->calibrated = 3;
    compiled->gain[0] = 0.5f;
}

static struct bench *make_bench(struct day const *day) {
    struct bench *const bench = aligned_alloc(RM_CACHE_LINE, sizeof *bench);
    assert_non_null(bench);
    memset(bench, 0, sizeof *bench);
    bench->day = *day;
    make_calibration(&bench->calibration);
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        bench->rig[way] = make_rig(FAST_PATH[way], day);
        describe(bench, way);
    }
    bench->traffic = (struct traffic){.random = 0x9E3779B97F4A7C15, .period = day->period};
    bench->shift = 100 * START;
    traffic_set_turn(&bench->traffic, INSTRUMENTS, bench->shift);
    return bench;
}

static void free_bench(struct bench *bench) {
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        rig_free(bench->rig[way]);
        for (uint32_t i = 0; i < FAST_PATH_LAYOUTS; ++i)
            rm_layout_free(bench->layout[way][i]);
    }
    free(bench);
}

static void push(struct bench *bench, uint32_t queue, struct traffic_frame const *frame) {
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        bench->rig[way]->port[0]->checksum_good = frame->checksum_good;
        rig_push(bench->rig[way], 0, queue, frame->bytes, frame->length);
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
            push(bench, bench->day.apart && index >= NATIVES, &frame);
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
    for (uint32_t way = 0; way < fast_path_ways(); ++way) {
        fast_path_general = 0;
        assert_null(rig_idle(bench->rig[way]));
        assert_null(rig_poll(bench->rig[way]));
        bench->general[way] += fast_path_general;
        char const *unlike = NULL;
        if (burst % STATES_EVERY == 0 || burst + 1 == BURSTS)
            unlike = unlike_states(bench->rig[0], bench->rig[way]);
        if (unlike == NULL && (burst % RINGS_EVERY == 0 || burst + 1 == BURSTS))
            unlike = unlike_rings(bench->rig[0], bench->rig[way]);
        if (unlike != NULL)
            fail_msg("after burst %d lane %d has other %s than the general path", burst, FAST_PATH[way], unlike);
    }
}

/** Each of these happened, or the comparison shows nothing. */
static void expect_a_bad_day(struct receive_rig const *rig) {
    static enum rm_port_counter const port[] = {
        RM_PORT_DECODED,        RM_PORT_TRUNCATED,       RM_PORT_NOT_UDP,   RM_PORT_FRAGMENT,
        RM_PORT_NOT_OUR_PORT,   RM_PORT_BAD_IP_HEADER,   RM_PORT_BAD_MAGIC, RM_PORT_BAD_UDP_CHECKSUM,
        RM_PORT_UNKNOWN_SOURCE, RM_PORT_UNKNOWN_VERSION, RM_PORT_TOO_SHORT, RM_PORT_UNKNOWN_INSTRUMENT,
        RM_PORT_WRONG_KIND,     RM_PORT_WRONG_LANES,     RM_PORT_TOO_LONG,
    };
    static enum rm_stream_counter const stream[] = {
        RM_STREAM_ACCEPTED,   RM_STREAM_OUT_OF_ORDER, RM_STREAM_DUPLICATE,
        RM_STREAM_TURN_AHEAD, RM_STREAM_TURN_BEHIND,  RM_STREAM_TURN_OUT_OF_RANGE,
        RM_STREAM_SKIPPED,    RM_STREAM_FAST_MISSING, RM_STREAM_TURN_EPOCHS,
    };
    for (unsigned i = 0; i < sizeof port / sizeof port[0]; ++i)
        if (rig_port_count(rig, port[i]) == 0)
            fail_msg("port counter %d never counted", port[i]);
    for (unsigned i = 0; i < sizeof stream / sizeof stream[0]; ++i)
        assert_true(rig_count(rig, 0, stream[i]) > 0);
    assert_true(rig_clock_count(rig, RM_CLOCK_ANCHORS) > rig_count(rig, 0, RM_STREAM_TURN_EPOCHS) + 1);
}

static void compare_a_bad_day(struct day const *day) {
    struct bench *const bench = make_bench(day);
    for (int burst = 0; burst < BURSTS; ++burst) {
        bench->now += 1 + traffic_random(&bench->traffic) % 7 * day->period;
        let_things_happen(bench);
        rig_set_tsc(rig_tsc_of(bench->now));
        send_due(bench);
        poll_all(bench, burst);
    }
    expect_a_bad_day(bench->rig[0]);
    uint64_t const received = rig_port_count(bench->rig[0], RM_PORT_RECEIVED);
    assert_int_equal(bench->general[0], received);
    for (uint32_t way = 1; way < fast_path_ways(); ++way) {
        print_message("lane %d: %llu of %llu packets took the general path\n", FAST_PATH[way],
                      (unsigned long long)bench->general[way], (unsigned long long)received);
        assert_int_equal(bench->general[way], day->unlike ? received : bench->general[1]);
    }
    /* A twelfth is calibrated; and where queues are apart, more of those that are ahead of the clock wait beside the
     * fast path. */
    uint64_t const most = day->apart ? received * 4 / 5 : received * 2 / 3;
    assert_true(day->unlike || bench->general[1] < most);
    free_bench(bench);
}

static void all_ways_are_alike(void **state) {
    (void)state;
    compare_a_bad_day(&(struct day){.period = 1});
}

static void so_they_are_with_a_record_every_ten_turns(void **state) {
    (void)state;
    compare_a_bad_day(&(struct day){.period = 10});
}

static void so_they_are_where_a_queue_has_one_format(void **state) {
    (void)state;
    compare_a_bad_day(&(struct day){.period = 1, .apart = true});
    compare_a_bad_day(&(struct day){.period = 10, .apart = true});
}

static void unlike_decimations_take_the_general_path(void **state) {
    (void)state;
    compare_a_bad_day(&(struct day){.period = 1, .unlike = true});
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(all_ways_are_alike),
        cmocka_unit_test(so_they_are_with_a_record_every_ten_turns),
        cmocka_unit_test(so_they_are_where_a_queue_has_one_format),
        cmocka_unit_test(unlike_decimations_take_the_general_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
