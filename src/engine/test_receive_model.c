// SPDX-License-Identifier: Apache-2.0
/** Eight instruments over 10^5 turns, with datagrams lost, twice, out of order and much too late: what the rings and
 * the counters say is what a plain model says that knows every delivery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "engine/test_receive_rig.h"

enum {
    INSTRUMENTS = 8,
    TURNS = 100000,
    LATE_TURNS = 4096,
    GAP_TURNS = 32,
    BRIDGE = 512, /**< rates.h */
    OUTPUTS = TURNS / 12 + 2,
    STAGES = 2,
};

static rm_turn const START = 1234567; /* no multiple of 12 */

/** One datagram on its way. */
struct delivery {
    uint64_t arrival; /**< turns after START */
    uint64_t order;   /**< of sending, for those that arrive together */
    uint32_t instrument;
    uint32_t turn; /**< after START */
};

/** The rates of the rig, told plainly. */
static struct {
    char const *filter;
    uint32_t decimation[STAGES]; /**< the second may be 0: none */
    int from;                    /**< -1: the turns */
} const RATE[RIG_RATES] = {
    [RIG_LOW_LATENCY] = {"low_latency", {12, 0}, -1},
    [RIG_FAST] = {"sharp", {12, 0}, -1},
    [RIG_LOOP] = {"sharp", {10, 0}, RIG_FAST},
    [RIG_SLOW] = {"low_latency", {10, 10}, RIG_LOW_LATENCY},
};

struct model_rate {
    struct rm_decimator stage[STAGES];
    struct rm_record output[OUTPUTS];
    uint32_t count;
};

/** What became of one instrument's datagrams, told plainly. Turns are counted from START. */
struct model {
    struct rm_record record[TURNS];
    struct model_rate rate[RIG_RATES];
    int64_t first, head; /**< -1: none */
    int64_t next;        /**< turn that the decimators want, -1: any */
    uint64_t accepted, late, duplicate, behind, skipped, fast_missing;
    bool seen[TURNS];
};

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int by_arrival(void const *a, void const *b) {
    struct delivery const *x = a, *y = b;
    if (x->arrival != y->arrival)
        return x->arrival < y->arrival ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/** Mostly at once; one in 64 up to 20 turns late, one in 512 up to 200, one in 4096 up to 6000. */
static uint64_t delay(uint64_t dice) {
    uint64_t const amount = dice >> 32;
    if (dice % 4096 == 0)
        return amount % 6000;
    if (dice % 512 == 0)
        return amount % 200;
    return dice % 64 == 0 ? amount % 20 : 0;
}

static uint32_t make_deliveries(struct delivery *deliveries) {
    uint64_t random = 42;
    uint32_t count = 0;
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        uint32_t outage = 0;
        for (uint32_t turn = i; turn < TURNS; ++turn) {
            uint64_t const dice = next_random(&random);
            if (dice % 20011 == 0)
                outage = dice >> 40 & 1023;
            bool const lost = dice % 101 == 0 || outage > 0;
            outage -= outage > 0;
            for (int copies = lost ? 0 : 1 + (dice % 103 == 0); copies > 0; --copies) {
                deliveries[count] = (struct delivery){turn + delay(next_random(&random)), count, i, turn};
                ++count;
            }
        }
    }
    qsort(deliveries, count, sizeof deliveries[0], by_arrival);
    return count;
}

static void model_feed(struct model *model, int rate, int stage, struct rm_decimated const *input);

/** What stage `stage` of a rate gave: to the next stage, or out, and to the rates that start there. */
static void model_give(struct model *model, int rate, int stage, struct rm_decimated const *output) {
    struct model_rate *const from = &model->rate[rate];
    if (stage + 1 < STAGES && RATE[rate].decimation[stage + 1] != 0) {
        model_feed(model, rate, stage + 1, output);
        return;
    }
    from->output[from->count++] = output->record;
    for (int i = 0; i < RIG_RATES; ++i)
        if (RATE[i].from == rate)
            model_feed(model, i, 0, output);
}

/** A stage that is fed by another: up to BRIDGE missing inputs are repeats of the last, more are a new beginning. */
static void model_feed(struct model *model, int rate, int stage, struct rm_decimated const *input) {
    struct rm_decimator *const decimator = &model->rate[rate].stage[stage];
    rm_turn const turn = input->record.turn;
    struct rm_decimated output;
    if (decimator->own.next_turn == RM_TURN_NONE || turn >= decimator->own.next_turn + BRIDGE * decimator->own.period)
        rm_decimator_start_decimated(decimator, input);
    while (decimator->own.next_turn != turn)
        if (rm_decimator_push(decimator, NULL, &output))
            model_give(model, rate, stage, &output);
    if (rm_decimator_push_decimated(decimator, input, &output))
        model_give(model, rate, stage, &output);
}

static void model_push(struct model *model, struct rm_record const *record) {
    for (int i = 0; i < RIG_RATES; ++i) {
        struct rm_decimated output;
        if (RATE[i].from < 0 && rm_decimator_push(&model->rate[i].stage[0], record, &output))
            model_give(model, i, 0, &output);
    }
    model->fast_missing += record == NULL;
    ++model->next;
}

/** The decimators take all turns in order; they wait for one until the head is GAP_TURNS ahead of it. */
static void model_decimate(struct model *model, uint32_t turn) {
    if (model->next >= 0 && turn < model->next)
        return;
    if (model->next < 0 || turn - model->next >= GAP_TURNS + BRIDGE) {
        for (int i = 0; i < RIG_RATES; ++i)
            if (RATE[i].from < 0)
                rm_decimator_start(&model->rate[i].stage[0], &model->record[turn]);
        model->next = turn;
    }
    while (model->next <= model->head) {
        bool const seen = model->seen[model->next];
        if (!seen && model->head - model->next < GAP_TURNS)
            return;
        model_push(model, seen ? &model->record[model->next] : NULL);
    }
}

static void model_take(struct model *model, uint32_t index, uint32_t turn, uint64_t tsc) {
    if (model->head >= 0 && turn <= model->head) {
        if (turn < model->first || model->head - turn >= LATE_TURNS) {
            ++model->behind;
            return;
        }
        if (model->seen[turn]) {
            ++model->duplicate;
            return;
        }
        ++model->late;
    } else {
        ++model->accepted;
        if (model->head >= 0)
            model->skipped += turn - model->head - 1;
        else
            model->first = turn;
        model->head = turn;
    }
    rm_turn const label = START + turn;
    struct rm_record *record = &model->record[turn];
    *record = (struct rm_record){.turn = label, .tag = rm_tag_full_rate(tsc, rig_status(index, label))};
    for (uint32_t lane = 0; lane < RIG_LANES; ++lane)
        record->lane[lane].i = rig_value(index, label, lane);
    model->seen[turn] = true;
    model_decimate(model, turn);
}

static void make_model_rate(struct model *model, int index) {
    struct rm_decimator_input const turns = {.period = 1};
    struct model_rate *const rate = &model->rate[index];
    struct rm_decimator const *before = RATE[index].from < 0 ? NULL : &model->rate[RATE[index].from].stage[0];
    for (int i = 0; i < STAGES && RATE[index].decimation[i] != 0; ++i) {
        struct rm_fir_design const *design = rm_fir_find(RATE[index].filter, RATE[index].decimation[i]);
        if (before == NULL)
            rm_decimator_init(&rate->stage[i], design, RM_SIMD_SCALAR, &turns);
        else
            rm_decimator_init_after(&rate->stage[i], design, before);
        before = &rate->stage[i];
    }
}

static struct model *make_model(void) {
    struct model *model = aligned_alloc(RM_CACHE_LINE, sizeof *model);
    assert_non_null(model);
    memset(model, 0, sizeof *model);
    model->first = model->head = model->next = -1;
    for (int i = 0; i < RIG_RATES; ++i)
        make_model_rate(model, i);
    return model;
}

static void expect_counters(struct receive_rig const *rig, uint32_t index, struct model const *model) {
    assert_int_equal(rig_count(rig, index, RM_STREAM_ACCEPTED), model->accepted);
    assert_int_equal(rig_count(rig, index, RM_STREAM_OUT_OF_ORDER), model->late);
    assert_int_equal(rig_count(rig, index, RM_STREAM_DUPLICATE), model->duplicate);
    assert_int_equal(rig_count(rig, index, RM_STREAM_TURN_BEHIND), model->behind);
    assert_int_equal(rig_count(rig, index, RM_STREAM_TURN_AHEAD), 0);
    assert_int_equal(rig_count(rig, index, RM_STREAM_SKIPPED), model->skipped);
    assert_int_equal(rig_count(rig, index, RM_STREAM_FAST_MISSING), model->fast_missing);
    assert_int_equal(rig_count(rig, index, RM_STREAM_TURN_EPOCHS), 0);
    /* Each of these happened, or the test shows nothing. */
    assert_true(model->late > 0 && model->duplicate > 0 && model->behind > 0 && model->fast_missing > 0);
}

static void expect_turns(struct receive_rig const *rig, uint32_t index, struct model const *model) {
    struct rm_stream_view const view = rig_view(&rig->instrument[index]->writer);
    assert_int_equal(rm_stream_head(&view), START + (uint64_t)model->head);
    uint64_t lost = 0;
    for (int64_t turn = model->first; turn <= model->head; ++turn) {
        struct rm_record record;
        enum rm_read const read = rm_stream_read(&view, START + (uint64_t)turn, &record);
        assert_int_equal(read, model->seen[turn] ? RM_READ_OK : RM_READ_MISSING);
        if (model->seen[turn])
            assert_memory_equal(&record, &model->record[turn], sizeof record);
        lost += !model->seen[turn];
    }
    assert_int_equal(rig_count(rig, index, RM_STREAM_SKIPPED) - rig_count(rig, index, RM_STREAM_OUT_OF_ORDER), lost);
}

static void expect_rate(struct rm_stream_writer const *writer, struct model_rate const *model) {
    struct rm_stream_view const view = rig_view(writer);
    assert_true(model->count > 0);
    assert_int_equal(rm_stream_head(&view), model->output[model->count - 1].turn);
    uint32_t next = 0;
    for (rm_turn turn = model->output[0].turn; turn <= rm_stream_head(&view); turn += writer->period) {
        struct rm_record record;
        bool const made = model->output[next].turn == turn;
        assert_int_equal(rm_stream_read(&view, turn, &record), made ? RM_READ_OK : RM_READ_MISSING);
        if (made)
            assert_memory_equal(&record, &model->output[next++], sizeof record);
    }
    assert_int_equal(next, model->count);
}

static void rings_and_counters_are_as_the_model_says(void **state) {
    (void)state;
    struct receive_rig *rig = rig_make(&(struct receive_rig_config){.instruments = INSTRUMENTS,
                                                                    .capacity = 1 << 17,
                                                                    .late_turns = LATE_TURNS,
                                                                    .gap_turns = GAP_TURNS,
                                                                    .queues = 2});
    struct model *model[INSTRUMENTS];
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        model[i] = make_model();
    struct delivery *deliveries = malloc(sizeof *deliveries * INSTRUMENTS * TURNS * 2);
    assert_non_null(deliveries);
    uint32_t const count = make_deliveries(deliveries);
    for (uint32_t i = 0; i < count; ++i) {
        struct delivery const *delivery = &deliveries[i];
        /* Datagrams of some turns arrive in one burst. */
        rig_set_tsc(rig_tsc_of(START + delivery->arrival / 5 * 5));
        rig_send(rig, delivery->instrument, START + delivery->turn);
        model_take(model[delivery->instrument], delivery->instrument, delivery->turn, rm_tsc());
        if (i + 1 == count || deliveries[i + 1].arrival / 5 != delivery->arrival / 5)
            assert_null(rig_poll(rig));
    }
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        expect_counters(rig, i, model[i]);
        expect_turns(rig, i, model[i]);
        for (int rate = 0; rate < RIG_RATES; ++rate)
            expect_rate(&rig->instrument[i]->rates.writer[rate], &model[i]->rate[rate]);
        free(model[i]);
    }
    free(deliveries);
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(rings_and_counters_are_as_the_model_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
