// SPDX-License-Identifier: Apache-2.0
#include "filter/decimator.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "filter/accumulate.h"

static struct rm_inputs *inputs_of(struct rm_decimator *decimator) {
    return decimator->shared != NULL ? decimator->shared : &decimator->own;
}

static void (*accumulate_for(enum rm_simd simd))(struct rm_decimator *) {
    switch (rm_simd_choose(simd)) {
    case RM_SIMD_AVX512:
        return rm_accumulate_avx512;
    case RM_SIMD_AVX2:
        return rm_accumulate_avx2;
    case RM_SIMD_BEST:
    case RM_SIMD_SCALAR:
        break;
    }
    return rm_accumulate_scalar;
}

void rm_decimator_init(struct rm_decimator *decimator, struct rm_fir_design const *design, enum rm_simd simd,
                       struct rm_decimator_input const *input) {
    assert(design->overlap <= RM_OVERLAP_MAX && design->decimation <= RM_DECIMATION_MAX);
    *decimator = (struct rm_decimator){
        .design = design,
        .accumulate = accumulate_for(simd),
        .centre_turns = design->centre * input->period,
        .closing_turns = design->centre * input->period,
        .float_lanes = input->float_lanes,
        .own = {.period = input->period, .decimation = design->decimation, .weight = 1, .span = 1},
    };
    rm_reducer_init(&decimator->reducer, input->reduction, input->float_lanes, design->overlap);
}

void rm_decimator_init_beside(struct rm_decimator *decimator, struct rm_fir_design const *design,
                              struct rm_decimator *first) {
    assert(design->decimation == first->design->decimation && first->shared == NULL);
    uint64_t const period = first->own.period;
    *decimator = (struct rm_decimator){
        .shared = &first->own,
        .design = design,
        .accumulate = first->accumulate,
        .centre_turns = design->centre * period,
        .closing_turns = design->centre * period + first->closing_turns - first->centre_turns,
        .float_lanes = first->float_lanes,
    };
    rm_reducer_init(&decimator->reducer, first->reducer.reduction, first->reducer.float_lanes, design->overlap);
}

void rm_decimator_init_after(struct rm_decimator *decimator, struct rm_fir_design const *design,
                             struct rm_decimator const *before) {
    struct rm_inputs const *const inputs = rm_decimator_inputs(before);
    uint64_t const period = inputs->period * inputs->decimation;
    *decimator = (struct rm_decimator){
        .design = design,
        .accumulate = before->accumulate,
        .centre_turns = design->centre * period,
        .closing_turns = design->centre * period + before->closing_turns,
        .float_lanes = (uint16_t)(before->float_lanes | (0xFFF & ~rm_reducer_lanes(&before->reducer))),
        .own = {.next_turn = RM_TURN_NONE,
                .period = period,
                .decimation = design->decimation,
                .weight = inputs->weight * inputs->decimation,
                .span = inputs->span + (before->design->taps - 1) * inputs->weight},
    };
    rm_reducer_init(&decimator->reducer, before->reducer.reduction, before->reducer.float_lanes, design->overlap);
}

void rm_decimator_reset(struct rm_decimator *decimator) {
    inputs_of(decimator)->missing = 0;
    inputs_of(decimator)->next_turn = RM_TURN_NONE;
}

static uint32_t place_after(uint32_t place, uint32_t places) { return place + 1 < places ? place + 1 : 0; }

/** OR of the status of all groups that are open but the one that is being completed. */
static uint16_t open_status(struct rm_decimator const *decimator) {
    uint64_t word[sizeof decimator->group_status / 8], all = 0;
    memcpy(word, decimator->group_status, sizeof word);
    for (size_t i = 0; i < sizeof word / 8; ++i)
        all |= word[i];
    all |= all >> 32;
    return (uint16_t)(all | all >> 16);
}

/** Notes status and count of the complete group: for the output that begins with it, which has no tap for phase 0, and
 * for those that were open. Then output_…[begun_at] are those of the oldest, which closes: its status is that of the
 * group it began with, and of all since. The array of groups is read before it is written to: as wide words, which
 * would wait for narrow stores just before them until these are in the cache. */
static void note_group(struct rm_decimator *decimator) {
    struct rm_inputs const *const inputs = rm_decimator_inputs(decimator);
    uint32_t const overlap = decimator->design->overlap;
    uint16_t const open = open_status(decimator);
    uint64_t tags = 0;
    for (uint32_t phase = 1; phase < inputs->decimation; ++phase)
        tags |= inputs->record[phase].tag;
    decimator->output_status[decimator->begun_at] = rm_tag_status(tags);
    decimator->output_before[decimator->begun_at] = inputs->missing_before[1];
    decimator->begun_at = place_after(decimator->begun_at, overlap);
    uint16_t const status = rm_tag_status(tags | inputs->record[0].tag);
    decimator->closing_status = open | status | decimator->output_status[decimator->begun_at];
    decimator->group_status[decimator->grouped_at] = status;
    decimator->grouped_at = place_after(decimator->grouped_at, overlap - 1);
    decimator->group_status[decimator->grouped_at] = 0;
}

static void complete_group(struct rm_decimator *decimator) {
    struct rm_inputs const *const inputs = rm_decimator_inputs(decimator);
    decimator->accumulate(decimator);
    note_group(decimator);
    if (decimator->reducer.active)
        rm_reducer_take(&decimator->reducer, inputs->record, inputs->decimation, inputs->absent_phases);
}

/** Every input before one whose first record has `missing` before it is missing, so the count before an input falls by
 * `weight` with every step back. */
static void start_counts(struct rm_decimator *decimator, uint32_t missing) {
    struct rm_inputs *const inputs = inputs_of(decimator);
    uint32_t const newest = decimator->design->overlap - 1;
    for (uint32_t phase = 0; phase < inputs->decimation; ++phase)
        inputs->missing_before[phase] = missing - inputs->weight * (inputs->phase - phase);
    for (uint32_t age = 0, place = decimator->begun_at; age < newest; ++age) {
        place = place_after(place, decimator->design->overlap);
        decimator->output_before[place] =
            inputs->missing_before[1] - inputs->weight * inputs->decimation * (newest - age);
    }
}

/** Of those beside each other each does this: what is said of the inputs is the same every time. */
static void decimator_start_output(struct rm_decimator *decimator, struct rm_record const *record, uint32_t missing) {
    struct rm_inputs *const inputs = inputs_of(decimator);
    assert(inputs->decimation > 1);
    for (uint32_t phase = 0; phase < inputs->decimation; ++phase) {
        inputs->record[phase] = *record;
        inputs->record[phase].tag &= RM_TAG_TSC_MASK;
    }
    for (uint32_t group = 1; group < decimator->design->overlap; ++group)
        complete_group(decimator);
    rm_reducer_start(&decimator->reducer, record);

    inputs->next_turn = record->turn;
    inputs->phase = (uint32_t)(record->turn / inputs->period % inputs->decimation);
    inputs->absent_phases = (uint16_t)((1u << inputs->phase) - 1);
    inputs->missing = missing;
    start_counts(decimator, missing);
}

void rm_decimator_start(struct rm_decimator *decimator, struct rm_record const *record) {
    struct rm_inputs const *const inputs = rm_decimator_inputs(decimator);
    bool const goes_on = record->turn > inputs->next_turn;
    uint64_t const outage = goes_on ? (record->turn - inputs->next_turn) / inputs->period : 0;
    decimator_start_output(decimator, record, inputs->missing + (uint32_t)outage);
}

void rm_decimator_start_decimated(struct rm_decimator *decimator, struct rm_decimated const *input) {
    decimator_start_output(decimator, &input->record, input->missing_before);
}

static void decimator_inputs_take(struct rm_inputs *inputs, struct rm_record const *record) {
    assert(record->turn == inputs->next_turn);
    inputs->record[inputs->phase] = *record;
    inputs->missing_before[inputs->phase] = inputs->missing;
}

static void take_missing(struct rm_inputs *inputs) {
    uint32_t const phase = inputs->phase;
    uint32_t const last = phase > 0 ? phase - 1 : inputs->decimation - 1;
    inputs->record[phase] = inputs->record[last];
    inputs->record[phase].tag &= RM_TAG_TSC_MASK;
    inputs->absent_phases |= (uint16_t)(1u << phase);
    inputs->missing += inputs->weight;
    /* The count before it is not below that before the last input, nor further below that after it than there are
     * records under its taps. Of the records since the last input some may have been there. */
    uint32_t const least = inputs->missing - inputs->span - (inputs->weight - 1);
    uint32_t const before_last = inputs->missing_before[last];
    inputs->missing_before[phase] = (int32_t)(least - before_last) > 0 ? least : before_last;
}

/** The sums of the output that closed, and turn and tag; four words at a time: code that copies the record loads them
 * so, and such a load would wait for narrower stores until they are in the cache, behind all that streams (5 of 38 ns a
 * packet with 96 instruments and both chains: `ringmaster-measure`). */
static void give_words(struct rm_decimator const *decimator, rm_turn turn, uint64_t tag, struct rm_record *record) {
    typedef float lanes __attribute__((vector_size(16), may_alias));
    typedef int32_t words __attribute__((vector_size(16), may_alias));
    typedef uint64_t head __attribute__((vector_size(16), may_alias));
    lanes const *const sum = (lanes const *)(void const *)&decimator->sum[0][4];
    words const nan = (words)(lanes){NAN, NAN, NAN, NAN};
    words *const lane = (words *)(void *)record->lane;
    *(head *)(void *)record = (head){turn, tag};
    for (int i = 0; i < RM_LANES / 4; ++i) {
        words const is_nan = sum[i] != sum[i]; // NOLINT(misc-redundant-expression): a NaN is
        lane[i] = ((words)sum[i] & ~is_nan) | (nan & is_nan);
    }
}

static void decimator_give_output(struct rm_decimator const *decimator, rm_turn turn, struct rm_decimated *output) {
    struct rm_inputs const *const inputs = rm_decimator_inputs(decimator);
    uint64_t const last_tag = inputs->record[inputs->decimation - 1].tag;
    uint32_t const before = decimator->output_before[decimator->begun_at];
    uint32_t const missing = inputs->missing - before;
    output->missing_before = before;
    output->missing_after = inputs->missing;
    output->absent = decimator->reducer.active && decimator->reducer.row[0].absent;
    uint64_t const tag = rm_tag_decimated(last_tag, decimator->closing_status,
                                          missing < RM_TAG_MISSING_MASK ? (uint16_t)missing : RM_TAG_MISSING_MASK);
    give_words(decimator, turn, tag, &output->record);
    if (decimator->reducer.active)
        rm_reducer_give(&decimator->reducer, &output->record);
}

/** True when the group is complete: it stays as it is until the next input comes. */
static bool decimator_inputs_advance(struct rm_inputs *inputs) {
    inputs->next_turn += inputs->period;
    inputs->phase = inputs->phase + 1 < inputs->decimation ? inputs->phase + 1 : 0;
    return inputs->phase == 0;
}

void rm_inputs_follow(struct rm_inputs *inputs, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        inputs->missing_before[inputs->phase + i] = inputs->missing;
    inputs->next_turn += count * inputs->period;
    inputs->phase += count;
    if (inputs->phase == inputs->decimation)
        inputs->phase = 0;
}

bool rm_decimator_fill(struct rm_decimator *decimator, struct rm_record const *record) {
    struct rm_inputs *const inputs = inputs_of(decimator);
    if (inputs->phase == 0)
        inputs->absent_phases = 0;
    if (record)
        decimator_inputs_take(inputs, record);
    else
        take_missing(inputs);
    return decimator_inputs_advance(inputs);
}

bool rm_decimator_close(struct rm_decimator *decimator, struct rm_decimated *output) {
    struct rm_inputs const *const inputs = rm_decimator_inputs(decimator);
    rm_turn const last_turn = inputs->next_turn - inputs->period;
    complete_group(decimator);
    if (last_turn < decimator->centre_turns)
        return false;
    decimator_give_output(decimator, last_turn - decimator->centre_turns, output);
    return true;
}

bool rm_decimator_push(struct rm_decimator *decimator, struct rm_record const *record, struct rm_decimated *output) {
    return rm_decimator_fill(decimator, record) && rm_decimator_close(decimator, output);
}

bool rm_decimator_push_decimated(struct rm_decimator *decimator, struct rm_decimated const *input,
                                 struct rm_decimated *output) {
    struct rm_inputs *const inputs = inputs_of(decimator);
    if (inputs->phase == 0)
        inputs->absent_phases = 0;
    decimator_inputs_take(inputs, &input->record);
    inputs->missing_before[inputs->phase] = input->missing_before;
    inputs->missing = input->missing_after;
    inputs->absent_phases |= (uint16_t)((unsigned)input->absent << inputs->phase);
    return decimator_inputs_advance(inputs) && rm_decimator_close(decimator, output);
}
