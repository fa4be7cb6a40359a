// SPDX-License-Identifier: Apache-2.0
#include "engine/rates.h"

#include <string.h>

/** Appends to a list of stages, so that they are pushed in the order of the configuration. */
static void append_stage(struct rm_stage **list, struct rm_stage *stage) {
    while (*list != NULL)
        list = &(*list)->next;
    *list = stage;
}

/** One that takes the instrument's own records: beside the last of them, where it can. */
static void init_first(struct rm_rates *rates, struct rm_stage *made, struct rm_fir_design const *design,
                       enum rm_simd simd, struct rm_decimator_input const *input) {
    struct rm_stage *last = rates->first;
    while (last != NULL && last->next != NULL)
        last = last->next;
    if (last != NULL && last->leader->decimator.design->decimation == design->decimation) {
        made->leader = last->leader;
        rm_decimator_init_beside(&made->decimator, design, &made->leader->decimator);
    } else {
        made->leader = made;
        rm_decimator_init(&made->decimator, design, simd, input);
    }
}

/** The decimators of one rate, in a row behind `source` (NULL: the instrument). Returns the last. */
static struct rm_stage *make_rate(struct rm_rates *rates, struct rm_config_rate const *rate, struct rm_stage *source,
                                  enum rm_simd simd, struct rm_decimator_input const *input) {
    for (uint32_t i = 0; i < rate->stage_count; ++i) {
        struct rm_stage *const made = &rates->stage[rates->stage_count++];
        if (source != NULL)
            rm_decimator_init_after(&made->decimator, rate->stage[i], &source->decimator);
        else
            init_first(rates, made, rate->stage[i], simd, input);
        append_stage(source == NULL ? &rates->first : &source->first, made);
        source = made;
    }
    return source;
}

bool rm_rates_make(struct rm_rates *rates, struct rm_config_rate const *rate, uint32_t count, enum rm_simd simd,
                   struct rm_decimator_input const *input, struct rm_arena *arena) {
    struct rm_stage *end[RM_CONFIG_RATES_MAX] = {NULL};
    size_t stages = 0;
    for (uint32_t i = 0; i < count; ++i)
        stages += rate[i].stage_count;
    memset(rates, 0, sizeof *rates);
    rates->count = count;
    if (count == 0) {
        rates->idle = rm_arena_take(arena, sizeof *rates->idle);
        if (rates->idle != NULL)
            *rates->idle = (struct rm_inputs){.period = input->period, .decimation = RM_DECIMATION_MAX};
        return rates->idle != NULL;
    }
    rates->stage = rm_arena_take(arena, stages * sizeof *rates->stage);
    if (rates->stage == NULL)
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_stage *const source = rate[i].from == RM_CONFIG_FROM_TURN ? NULL : end[rate[i].from];
        end[i] = make_rate(rates, &rate[i], source, simd, input);
        end[i]->writer = &rates->writer[i];
        end[i]->rate = i;
    }
    return true;
}

void rm_rates_start(struct rm_rates *rates, struct rm_record const *record) {
    for (struct rm_stage *stage = rates->first; stage != NULL; stage = stage->next)
        rm_decimator_start(&stage->decimator, record);
}

static void stage_take_input(struct rm_rates *rates, struct rm_stage *stage, struct rm_decimated const *input);

/** What a decimator made: into its stream, and on. */
static void stage_leave_output(struct rm_rates *rates, struct rm_stage *stage, struct rm_decimated const *output) {
    if (stage->writer != NULL) {
        rm_stream_writer_put(stage->writer, &output->record);
        rates->moved |= 1u << stage->rate;
    }
    for (struct rm_stage *behind = stage->first; behind != NULL; behind = behind->next)
        stage_take_input(rates, behind, output);
}

static bool begins_anew(struct rm_inputs const *inputs, rm_turn turn) {
    return inputs->next_turn == RM_TURN_NONE || (turn - inputs->next_turn) / inputs->period >= RM_BRIDGE;
}

static void stage_take_input(struct rm_rates *rates, struct rm_stage *stage, struct rm_decimated const *input) {
    struct rm_decimator *const decimator = &stage->decimator;
    rm_turn const turn = input->record.turn;
    struct rm_decimated output;
    if (begins_anew(&decimator->own, turn))
        rm_decimator_start_decimated(decimator, input);
    while (decimator->own.next_turn < turn)
        if (rm_decimator_push(decimator, NULL, &output))
            stage_leave_output(rates, stage, &output);
    if (rm_decimator_push_decimated(decimator, input, &output))
        stage_leave_output(rates, stage, &output);
}

/** Apart, so that the eleven pushes of twelve that only fill save no registers: 9 instructions less a packet. */
__attribute__((noinline)) static void close_group(struct rm_rates *rates, struct rm_stage *stage) {
    struct rm_decimated output;
    if (rm_decimator_close(&stage->decimator, &output))
        stage_leave_output(rates, stage, &output);
}

/** Closes the complete group of `leader` and those beside it; returns the stages that come after them. */
static struct rm_stage *close_beside(struct rm_rates *rates, struct rm_stage *leader) {
    struct rm_stage *stage = leader;
    for (; stage != NULL && stage->leader == leader; stage = stage->next)
        close_group(rates, stage);
    leader->decimator.own.absent_phases = 0; /* of the next group, which the fast path may begin */
    return stage;
}

void rm_rates_push(struct rm_rates *rates, struct rm_record const *record) {
    for (struct rm_stage *stage = rates->first; stage != NULL;) {
        bool const full = stage->leader == stage && rm_decimator_fill(&stage->decimator, record);
        stage = full ? close_beside(rates, stage) : stage->next;
    }
}

struct rm_inputs *rm_rates_inputs(struct rm_rates *rates) {
    for (struct rm_stage const *stage = rates->first; stage != NULL; stage = stage->next)
        if (stage->leader != rates->first)
            return NULL;
    return rates->first != NULL ? &rates->first->decimator.own : rates->idle;
}

void rm_rates_close(struct rm_rates *rates) {
    if (rates->first != NULL)
        close_beside(rates, rates->first);
}

/** A decimator that has begun anew gives records behind the head of a stream that followed the clock: then there is
 * nothing to show. */
void rm_rates_show(struct rm_rates *rates, uint64_t tsc) {
    for (uint32_t moved = rates->moved; moved != 0; moved &= moved - 1) {
        struct rm_stream_writer *const writer = &rates->writer[__builtin_ctz(moved)];
        if (writer->head != writer->published)
            rm_stream_writer_show(writer, tsc);
    }
    rates->moved = 0;
}

void rm_rates_follow(struct rm_rates *rates, rm_turn turn, uint64_t tsc) {
    for (uint32_t i = 0; i < rates->stage_count; ++i) {
        struct rm_decimator const *const decimator = &rates->stage[i].decimator;
        struct rm_stream_writer *const writer = rates->stage[i].writer;
        uint64_t const period = rm_decimator_inputs(decimator)->period * decimator->design->decimation;
        if (writer == NULL || turn < decimator->closing_turns)
            continue;
        rm_stream_writer_pass_over(writer, (turn - decimator->closing_turns) / period * period);
        if (writer->head != writer->published)
            rm_stream_writer_publish(writer, tsc);
    }
}

void rm_rates_restart(struct rm_rates *rates) {
    for (uint32_t i = 0; i < rates->stage_count; ++i)
        rm_decimator_reset(&rates->stage[i].decimator);
    for (uint32_t i = 0; i < rates->count; ++i)
        rm_stream_writer_restart(&rates->writer[i]);
}
