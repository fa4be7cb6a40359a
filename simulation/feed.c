// SPDX-License-Identifier: Apache-2.0
#include "feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/zeroed.h"
#include "config/instrument_rates.h"

/* ── making ── */

/** One input while it is found. */
struct finding {
    struct rm_config const *config;
    struct rm_plant const *plant;
    char const *name; /**< "bpm01/fast" */
    struct rm_feed_input *input;
    /** Turns from one step to the next. */
    uint32_t step_turns;
    struct rm_error *error;
};

static struct rm_virtual_group const *group_of(struct rm_plant const *plant, uint32_t instrument) {
    for (uint32_t g = 0; g < plant->config.group_count; ++g)
        if (instrument - plant->config.groups[g].first < plant->config.groups[g].count)
            return &plant->config.groups[g];
    return NULL;
}

/** Lanes of a described layout are those of the kind, by name. */
static void find_lanes(struct rm_feed_input *input, struct rm_config_instrument const *wanted,
                       struct rm_virtual_group const *group) {
    struct rm_layout const *layout = group->format->layout;
    input->described = layout != NULL;
    for (uint32_t l = 0; layout != NULL && l < rm_layout_described(layout)->lane_count; ++l)
        input->source[l] = rm_lane_source_find(wanted->kind, &rm_layout_described(layout)->lane[l]);
}

/** The instrument that sends it. */
static enum rm_code find_fed_instrument(struct finding const *finding, struct rm_config_instrument const **found) {
    struct rm_config const *config = finding->config;
    struct rm_config_instrument const *const wanted = *found = rm_config_input_instrument(config, finding->name);
    if (wanted == NULL)
        return rm_fail(finding->error, RM_E_CONFIG,
                       "input \"%s\" is a stream of another application, and a simulation has one. Run both beside a "
                       "server and `ringmaster virtual` in lock-step",
                       finding->name);
    struct rm_feed_input *input = finding->input;
    memcpy(input->name, wanted->name, sizeof input->name);
    if (wanted->follows)
        return rm_fail(finding->error, RM_E_CONFIG,
                       "input \"%s\" is the readback of a chain: nothing else sets supplies in a simulation, so there "
                       "is nothing to compare with. Leave it out of a copy of the configuration",
                       finding->name);
    input->instrument = rm_plant_instrument(finding->plant, wanted->source_ipv4, wanted->id);
    input->status = finding->plant->config.instruments[input->instrument].status;
    input->own_period = wanted->period_turns;
    input->lane_count = wanted->lane_count;
    find_lanes(input, wanted, group_of(finding->plant, input->instrument));
    return RM_OK;
}

/** The stages from the instrument's own records to rate `rate`, in the order of the records' way. */
static uint32_t list_stages(struct rm_config_rate const *rates, uint32_t rate,
                            struct rm_fir_design const *stages[RM_FEED_STAGES_MAX]) {
    if (rate == RM_CONFIG_FROM_TURN)
        return 0;
    uint32_t count = list_stages(rates, rates[rate].from, stages);
    for (uint32_t s = 0; s < rates[rate].stage_count; ++s)
        stages[count++] = rates[rate].stage[s];
    return count;
}

/** As the server's own streams are described. */
static void describe_feed_input(struct rm_feed_input *input, struct rm_config_instrument const *wanted) {
    input->stream = (struct rm_stream){
        .period = wanted->period_turns,
        .instrument_kind = wanted->kind,
        .instrument_id = wanted->id,
        .source_ipv4 = wanted->source_ipv4,
        .lane_count = wanted->lane_count,
        .gain = 1.0,
        .filter = "none",
    };
    memcpy(input->stream.lane, wanted->lane, sizeof input->stream.lane);
}

static void describe_stage(struct rm_stream *stream, struct rm_fir_design const *design) {
    stream->group_delay_turns += (double)(design->centre * stream->period);
    stream->closing_delay_turns = stream->group_delay_turns;
    stream->gain *= design->gain;
    stream->period *= design->decimation;
    for (uint32_t l = 0; l < stream->lane_count; ++l)
        if (stream->lane[l].reduction == RM_REDUCE_FIR)
            stream->lane[l].type = RM_LANE_F32;
}

static enum rm_code make_stages(struct finding const *finding, struct rm_config_instrument const *wanted,
                                struct rm_fir_design const *const *design, uint32_t count) {
    struct rm_feed_input *input = finding->input;
    input->stage = count == 0 ? NULL : rm_zeroed(count, sizeof *input->stage);
    if (input->stage == NULL)
        return rm_fail(finding->error, RM_E_NO_SPACE, "no memory for the filters of input \"%s\"", finding->name);
    struct rm_decimator_input source = {.period = wanted->period_turns};
    for (uint32_t l = 0; l < wanted->lane_count; ++l) {
        source.reduction[l] = (uint8_t)wanted->lane[l].reduction;
        source.float_lanes |= (uint16_t)((wanted->lane[l].type == RM_LANE_F32) << l);
    }
    snprintf(input->stream.filter, sizeof input->stream.filter, "%s", design[0]->name);
    for (uint32_t s = 0; s < count; ++s) {
        if (s == 0)
            rm_decimator_init(&input->stage[0], design[0], rm_simd_best(), &source);
        else
            rm_decimator_init_after(&input->stage[s], design[s], &input->stage[s - 1]);
        describe_stage(&input->stream, design[s]);
        rm_decimator_reset(&input->stage[s]);
    }
    input->stage_count = count;
    return RM_OK;
}

static enum rm_code find_rate(struct finding const *finding, struct rm_config_instrument const *wanted) {
    char const *slash = strchr(finding->name, '/');
    char const *rate = slash == NULL ? NULL : slash + 1;
    struct rm_config_rate rates[RM_CONFIG_RATES_MAX];
    struct rm_fir_design const *stages[RM_FEED_STAGES_MAX] = {NULL};
    describe_feed_input(finding->input, wanted);
    if (rate == NULL)
        return rm_fail(finding->error, RM_E_CONFIG, "input \"%s\": expected INSTRUMENT/RATE", finding->name);
    if (strcmp(rate, rm_instrument_own_rate(wanted->period_turns)) == 0)
        return RM_OK;
    uint32_t const count = rm_instrument_rates(finding->config, wanted->period_turns, rates);
    for (uint32_t r = 0; r < count; ++r)
        if (strcmp(rates[r].name, rate) == 0)
            return make_stages(finding, wanted, stages, list_stages(rates, r, stages));
    return rm_fail(finding->error, RM_E_CONFIG, "input \"%s\": no such rate", finding->name);
}

/** Room for its records, of which there are none yet. */
static enum rm_code make_slots(struct finding const *finding) {
    struct rm_feed_input *input = finding->input;
    input->slots = finding->step_turns / (uint32_t)input->stream.period + RM_FEED_SLOTS;
    input->slot = rm_zeroed(input->slots, sizeof *input->slot);
    if (input->slot == NULL)
        return rm_fail(finding->error, RM_E_NO_SPACE, "no memory for the records of input \"%s\"", finding->name);
    for (uint32_t s = 0; s < input->slots; ++s)
        input->slot[s].turn = RM_TURN_NONE;
    return RM_OK;
}

static enum rm_code find_input(struct finding const *finding) {
    struct rm_config_instrument const *wanted = NULL;
    enum rm_code code = find_fed_instrument(finding, &wanted);
    if (wanted == NULL || code != RM_OK)
        return code;
    code = find_rate(finding, wanted);
    return code == RM_OK ? make_slots(finding) : code;
}

enum rm_code rm_feed_open(struct rm_config const *config, uint32_t application, struct rm_plant const *plant,
                          struct rm_feed *feed, struct rm_error *error) {
    struct rm_config_application const *own = &config->application[application];
    *feed = (struct rm_feed){.period = own->period_turns, .next = plant->config.first_turn};
    if (config->calibration.apply == RM_CALIBRATED_IN_STREAM)
        return rm_fail(error, RM_E_CONFIG,
                       "the server's streams are calibrated (calibration.apply: stream); only raw ones are simulated");
    feed->input = rm_zeroed(own->input_count, sizeof *feed->input);
    if (feed->input == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u inputs", own->input_count);
    feed->count = own->input_count;
    for (uint32_t i = 0; i < feed->count; ++i) {
        struct rm_feed_input *input = &feed->input[i];
        enum rm_code const code =
            find_input(&(struct finding){config, plant, own->input[i], input, own->period_turns, error});
        if (code != RM_OK)
            return code;
        feed->has_runs |= input->stream.period < feed->period;
        uint32_t const closing = (uint32_t)input->stream.closing_delay_turns;
        feed->closing_turns = closing > feed->closing_turns ? closing : feed->closing_turns;
    }
    return RM_OK;
}

void rm_feed_close(struct rm_feed *feed) {
    for (uint32_t i = 0; i < feed->count; ++i) {
        free(feed->input[i].stage);
        free(feed->input[i].slot);
    }
    free(feed->input);
    *feed = (struct rm_feed){0};
}

/* ── reading ── */

static void feed_input_keep(struct rm_feed_input *input, struct rm_record const *record) {
    input->slot[record->turn / input->stream.period % input->slots] = *record;
}

/** Its record of a turn, or NULL. */
static struct rm_record const *feed_input_find(struct rm_feed_input const *input, rm_turn turn) {
    struct rm_record const *const slot = &input->slot[turn / input->stream.period % input->slots];
    return slot->turn == turn ? slot : NULL;
}

/** Pushes what came, or NULL, through the decimators; what leaves the last one is kept. */
static void feed_input_filter(struct rm_feed_input *input, struct rm_record const *record) {
    struct rm_decimated out, in;
    if (rm_decimator_inputs(&input->stage[0])->next_turn == RM_TURN_NONE) {
        if (record == NULL)
            return;
        rm_decimator_start(&input->stage[0], record);
    }
    bool more = rm_decimator_push(&input->stage[0], record, &out);
    for (uint32_t s = 1; more && s < input->stage_count; ++s) {
        in = out;
        if (rm_decimator_inputs(&input->stage[s])->next_turn == RM_TURN_NONE)
            rm_decimator_start_decimated(&input->stage[s], &in);
        more = rm_decimator_push_decimated(&input->stage[s], &in, &out);
    }
    if (more && !out.absent)
        feed_input_keep(input, &out.record);
}

/** What a datagram of a described layout makes of the lanes of its kind. */
static void describe_lanes(struct rm_feed_input const *input, union rm_lane *lanes) {
    union rm_lane own[RM_LANES];
    memcpy(own, lanes, sizeof own);
    for (uint32_t l = 0; l < input->lane_count; ++l)
        lanes[l] = rm_lane_source_take(&input->source[l], own);
}

static void feed_input_read(struct rm_feed_input *input, struct rm_plant *plant, rm_turn turn) {
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(0, input->status)};
    rm_plant_read(plant, turn, input->instrument, record.lane);
    if (input->described)
        describe_lanes(input, record.lane);
    for (uint32_t l = input->lane_count; l < RM_LANES; ++l)
        record.lane[l].i = 0;
    if (input->stage_count > 0)
        feed_input_filter(input, input->dropped ? NULL : &record);
    else if (!input->dropped)
        feed_input_keep(input, &record);
}

/** Reads all instruments whose turn it is. */
static enum rm_code read_turn(struct rm_feed *feed, struct rm_plant *plant, rm_turn turn, struct rm_error *error) {
    bool advanced = false;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < feed->count && code == RM_OK; ++i) {
        if (turn % feed->input[i].own_period != 0)
            continue;
        if (!advanced)
            code = rm_plant_advance(plant, rm_plant_seconds(plant, turn), error);
        advanced = true;
        if (code == RM_OK)
            feed_input_read(&feed->input[i], plant, turn);
    }
    return code;
}

enum rm_code rm_feed_gather(struct rm_feed *feed, struct rm_plant *plant, rm_turn turn, struct rm_record *record,
                            bool *missing, struct rm_error *error) {
    enum rm_code code = RM_OK;
    if (feed->closing_turns == 0 && !feed->has_runs)
        feed->next = turn; // those between are not read
    for (; feed->next <= turn + feed->closing_turns && code == RM_OK; ++feed->next)
        code = read_turn(feed, plant, feed->next, error);
    if (code == RM_OK)
        code = rm_plant_advance(plant, rm_plant_seconds(plant, turn + feed->closing_turns), error);
    for (uint32_t i = 0; i < feed->count; ++i) {
        struct rm_record const *found = feed_input_find(&feed->input[i], turn);
        missing[i] = found == NULL;
        if (found != NULL)
            record[i] = *found;
    }
    return code;
}

void rm_feed_run(struct rm_feed const *feed, rm_turn turn, struct rm_host_runs *runs) {
    rm_host_runs_span(runs, turn, 1);
    for (uint32_t i = 0; i < feed->count; ++i)
        for (uint64_t n = 0; n < runs->run[i].count; ++n) {
            rm_turn const wanted = rm_host_runs_turn(runs, i, n);
            struct rm_record const *found = wanted == RM_TURN_NONE ? NULL : feed_input_find(&feed->input[i], wanted);
            runs->record[i][n] = found != NULL ? *found : (struct rm_record){.turn = RM_TURN_NONE};
        }
}

/* ── what befalls them ── */

enum rm_code rm_feed_befall(struct rm_feed *feed, char const *what, char const *instrument, struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = instrument};
    bool found = false;
    for (uint32_t i = 0; i < feed->count; ++i) {
        struct rm_feed_input *input = &feed->input[i];
        rm_nearest_offer(&nearest, input->name);
        if (strcmp(input->name, instrument) != 0)
            continue;
        found = true;
        input->dropped = strcmp(what, "drop") == 0 || (input->dropped && strcmp(what, "back") != 0);
    }
    if (found)
        return RM_OK;
    if (nearest.name != NULL)
        return rm_fail(error, RM_E_NOT_FOUND, "%s=%s: no input of the application comes from there; did you mean %s?",
                       what, instrument, nearest.name);
    return rm_fail(error, RM_E_NOT_FOUND, "%s=%s: no input of the application comes from there", what, instrument);
}
