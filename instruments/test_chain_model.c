// SPDX-License-Identifier: Apache-2.0
/** A virtual chain against a model written from the rules of docs/setpoint-format.md, under whatever comes in whatever
 * order: setpoints of several servers, copies, overtaken and lost ones, queries, datagrams for others, garbage, time-outs
 * and power cycles. Each answer must be the model's. And whatever the model says,
 *
 *   - between two power cycles the terms that are obeyed never fall, and each is of one instance;
 *   - a chain that gets no query at all obeys and says the same, setpoint for setpoint.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/counters.h>

#include "chain.h"
#include "noise.h"
#include "wire/setpoint.h"

enum { ID = 5, SUPPLIES = 2, LIVES = 300, STEPS = 600, SERVERS = 3, TERMS = 6 };

static double const TIMEOUT_S = 100e-6;

/* ── the model ── */

/** What the rules need, and no more. */
struct chain_model {
    bool off;
    double on_since;
    /** Rules 4 and 5. */
    uint32_t term, instance;
    bool obeyed_it;
    uint64_t sequence;
    /** Of the last setpoint that was obeyed since it was switched on; 0: none was. */
    double obeyed_at;
    bool misdirected;
    float value;
};

struct expected {
    bool answered;
    uint32_t status, term, low;
    float value;
};

enum coming { SETPOINTS, QUERY, FOR_ANOTHER, GARBAGE };

struct came {
    enum coming kind;
    double time;
    uint16_t term;
    uint32_t instance;
    uint64_t sequence;
    float value;
};

static bool model_listens(struct chain_model const *model, double time) { return time < model->on_since + TIMEOUT_S; }

static uint32_t model_status(struct chain_model const *model, double time) {
    bool const stopped = model->obeyed_at != 0 && time >= model->obeyed_at + TIMEOUT_S;
    return (model_listens(model, time) ? RM_CHAIN_SAYS_LISTENING : 0u) | (stopped ? RM_CHAIN_SAYS_STOPPED : 0u) |
           (model->misdirected ? RM_CHAIN_SAYS_MISDIRECTED : 0u);
}

/** A higher term is the highest from now on. */
static void model_note(struct chain_model *model, struct came const *came) {
    if (came->term <= model->term)
        return;
    model->term = came->term;
    model->instance = came->instance;
    model->obeyed_it = false;
}

static struct expected model_query(struct chain_model *model, struct came const *came) {
    if (model_listens(model, came->time))
        model_note(model, came);
    double const us = floor((came->time - model->obeyed_at) * 1e6);
    return (struct expected){
        .answered = true,
        .status = model_status(model, came->time) | RM_CHAIN_SAYS_QUERIED,
        .term = model->term,
        .low = model->obeyed_at == 0 || us > 65535 ? 65535 : (uint32_t)us,
        .value = model->value,
    };
}

static struct expected model_setpoints(struct chain_model *model, struct came const *came) {
    bool const lower = came->term < model->term;
    bool const stranger = came->term == model->term && came->instance != model->instance;
    struct expected expected = {.answered = true, .low = came->sequence & 0xFFFF, .value = model->value};
    model_note(model, came);
    expected.term = model->term;
    if (lower || stranger) {
        expected.status = model_status(model, came->time) | RM_CHAIN_SAYS_OLD_TERM;
        return expected;
    }
    if (model_listens(model, came->time)) {
        expected.status = model_status(model, came->time);
        return expected;
    }
    if (model->obeyed_it && came->sequence <= model->sequence)
        return (struct expected){.answered = false};
    bool const gap = model->obeyed_it && came->sequence > model->sequence + 1;
    model->obeyed_it = true;
    model->sequence = came->sequence;
    model->obeyed_at = came->time;
    model->value = expected.value = came->value;
    expected.status = model_status(model, came->time) | (gap ? RM_CHAIN_SAYS_GAP : 0u);
    model->misdirected = false;
    return expected;
}

static struct expected model_take(struct chain_model *model, struct came const *came) {
    if (model->off)
        return (struct expected){.answered = false};
    model->misdirected |= came->kind == FOR_ANOTHER;
    if (came->kind == QUERY)
        return model_query(model, came);
    return came->kind == SETPOINTS ? model_setpoints(model, came) : (struct expected){.answered = false};
}

static void model_power(struct chain_model *model, double time, bool on) {
    model->off = !on;
    if (on)
        *model = (struct chain_model){.on_since = time, .value = model->value};
}

/* ── a life ── */

/** A chain, and who judges it. */
struct living {
    struct rm_supply_config physics[SUPPLIES];
    struct rm_supply supply[SUPPLIES];
    struct rm_chain_config config;
    rm_counter counters[RM_SUPPLY_COUNTERS];
    struct rm_chain chain;
    struct rm_chain_answer answer;
};

static void living_make(struct living *living) {
    *living = (struct living){.config = {.id = ID, .supply_count = SUPPLIES, .timeout_s = TIMEOUT_S}};
    living->config.supply = living->physics;
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        living->physics[s] =
            (struct rm_supply_config){.low = -1e6, .high = 1e6, .slew = INFINITY, .safe_slew = INFINITY};
    rm_chain_make(&living->chain, &living->config, living->supply, NULL, 0, 1, living->counters);
}

static bool deliver(struct living *living, struct came const *came) {
    uint8_t payload[RM_SETPOINT_LONGEST];
    float const values[SUPPLIES] = {came->value, came->value};
    uint32_t const length =
        rm_setpoint_write(payload, came->kind == QUERY ? RM_SETPOINT_QUERY : 0, came->kind == FOR_ANOTHER ? ID + 1 : ID,
                          came->sequence, came->term, came->instance, came->sequence, values, SUPPLIES);
    payload[0] ^= came->kind == GARBAGE;
    return rm_chain_take(&living->chain, payload, length, came->time, &living->answer);
}

/** What the answer says, in the model's words. */
static struct expected said(struct living const *living, bool answered) {
    struct rm_native native;
    struct rm_record record;
    if (!answered)
        return (struct expected){.answered = false};
    assert_int_equal(rm_native_parse(living->answer.payload[0], living->answer.length[0], &native), RM_PORT_DECODED);
    rm_native_record(&native, native.turn, 0, &record);
    return (struct expected){
        .answered = true,
        .status = native.status,
        .term = rm_supply_answer_term(record.lane[0].i),
        .low = rm_supply_answer_low(record.lane[0].i),
        .value = record.lane[RM_SUPPLY_LANE_FIRST].f,
    };
}

static void assert_said(struct expected const *is, struct expected const *expected) {
    assert_int_equal(is->answered, expected->answered);
    assert_int_equal(is->status, expected->status);
    assert_int_equal(is->term, expected->term);
    assert_int_equal(is->low, expected->low);
    assert_float_equal(is->value, expected->value, 0);
}

/** Numbers drawn for one life. */
struct drawing {
    uint64_t key, count;
};

static uint64_t draw(struct drawing *drawing, uint64_t below) {
    return rm_noise_u64(drawing->key ^ rm_noise_u64(++drawing->count)) % below;
}

/** The next that comes: mostly of servers that go on, sometimes anything. */
static struct came draw_coming(struct drawing *drawing, uint64_t *sequence, double time) {
    uint64_t const kind = draw(drawing, 20), way = draw(drawing, 12);
    uint16_t const term = draw(drawing, 50) == 0 ? UINT16_MAX : (uint16_t)(1 + draw(drawing, TERMS));
    uint32_t const instance = draw(drawing, 6) == 0 ? 1 + (uint32_t)draw(drawing, SERVERS) : 1u + term % SERVERS;
    struct came came = {
        .kind = kind < 14   ? SETPOINTS
                : kind < 18 ? QUERY
                : kind < 19 ? FOR_ANOTHER
                            : GARBAGE,
        .time = time,
        .term = term,
        .instance = instance,
        .value = (float)draw(drawing, 100000),
    };
    if (came.kind == QUERY && draw(drawing, 3) == 0)
        came.term = 0;
    uint64_t *const last = &sequence[instance - 1];
    came.sequence = way == 0 ? *last : way == 1 ? *last / 2 : way == 2 ? *last + 1 + draw(drawing, 4) : *last + 1;
    if (came.kind == SETPOINTS && came.sequence > *last)
        *last = came.sequence;
    return came;
}

/** Whom a chain has obeyed since it was switched on: never less, and never two under one term. */
struct masters {
    uint32_t term, instance;
};

static void assert_one_master(struct masters *masters, struct came const *came) {
    assert_true(came->term >= masters->term);
    assert_true(came->term > masters->term || came->instance == masters->instance);
    *masters = (struct masters){came->term, came->instance};
}

static void live(uint64_t seed, uint64_t *obeyed, uint64_t *refused) {
    struct drawing drawing = {.key = rm_noise_u64(seed + 1)};
    static struct living asked, left_alone;
    struct chain_model model = {.on_since = -1};
    struct masters masters = {0};
    uint64_t sequence[SERVERS] = {0};
    double time = 1;
    living_make(&asked);
    living_make(&left_alone);
    for (int step = 0; step < STEPS; ++step) {
        time += 1e-6 * (0.5 + (double)draw(&drawing, draw(&drawing, 20) == 0 ? 200 : 12));
        if (draw(&drawing, model.off ? 4 : 60) == 0) {
            rm_chain_power(&asked.chain, time, model.off);
            rm_chain_power(&left_alone.chain, time, model.off);
            masters = (struct masters){0};
            model_power(&model, time, model.off);
            continue;
        }
        struct came const came = draw_coming(&drawing, sequence, time);
        uint64_t const before = rm_counter_get(asked.counters, RM_SUPPLY_SETPOINTS);
        struct expected const expected = model_take(&model, &came);
        struct expected const is = said(&asked, deliver(&asked, &came));
        assert_said(&is, &expected);
        if (rm_counter_get(asked.counters, RM_SUPPLY_SETPOINTS) != before)
            assert_one_master(&masters, &came);
        if (came.kind == QUERY && !model_listens(&model, time))
            continue; /* it changes nothing */
        struct expected const same = said(&left_alone, deliver(&left_alone, &came));
        assert_said(&same, &expected);
    }
    *obeyed += rm_counter_get(asked.counters, RM_SUPPLY_SETPOINTS);
    *refused += rm_counter_get(asked.counters, RM_SUPPLY_OLD_TERM);
}

static void whatever_comes_it_obeys_one_master_and_says_so(void **state) {
    (void)state;
    uint64_t obeyed = 0, refused = 0;
    for (uint64_t seed = 0; seed < LIVES; ++seed)
        live(seed, &obeyed, &refused);
    /* Both happened often: the draws are no idle ones. */
    assert_true(obeyed > 10 * LIVES && refused > 10 * LIVES);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(whatever_comes_it_obeys_one_master_and_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
