// SPDX-License-Identifier: Apache-2.0
/** Reading samples: records as they are, or what records and steps come to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>

#include "frames.h"
#include "history.h"

/** Order of the fields of a sample. */
enum field { FIELD_MEAN, FIELD_MIN, FIELD_MAX, FIELD_DEVIATION };

/** Order of the numbers of a lane in a step: struct rm_reduced. */
enum step_number { STEP_MIN, STEP_MEAN, STEP_MAX, STEP_DEVIATION, STEP_NUMBERS };

/** What values come to: Chan, Golub and LeVeque's update of mean and sum of squares. */
struct summary {
    double count, mean, squares, least, most;
};

static void summary_add(struct summary *summary, double count, double mean, double deviation, double least,
                        double most) {
    if (!(count > 0) || !isfinite(mean) || !isfinite(deviation))
        return;
    double const all = summary->count + count, away = mean - summary->mean;
    summary->squares += count * deviation * deviation + away * away * summary->count * count / all;
    summary->mean += away * count / all;
    summary->least = summary->count > 0 && summary->least < least ? summary->least : least;
    summary->most = summary->count > 0 && summary->most > most ? summary->most : most;
    summary->count = all;
}

/** A stretch of an object that samples are made of. */
struct stretch {
    struct rm_archived_object const *is;
    char *records;
    uint8_t *results;
    /** Records or steps of a sample. */
    uint64_t in_sample;
};

/** The run of an object that is the same stretch of time as the piece; UINT32_MAX: none. */
static uint32_t object_run(struct rm_archive_object const *object, struct fa_piece const *piece) {
    uint32_t found = UINT32_MAX;
    uint64_t most = 0;
    for (uint32_t r = 0; r < object->run_count; ++r) {
        struct rm_archive_run const *const run = &object->run[r];
        uint64_t const from = run->first_tai_ns > piece->first_tai_ns ? run->first_tai_ns : piece->first_tai_ns;
        uint64_t const until = run->last_tai_ns < piece->last_tai_ns ? run->last_tai_ns : piece->last_tai_ns;
        if (run->turn_epoch == piece->turn_epoch && until >= from && until - from + 1 > most) {
            most = until - from + 1;
            found = r;
        }
    }
    return found;
}

static void summary_add_record(struct summary *summary, struct stretch const *stretch, uint64_t at, uint32_t lane) {
    char const *const record = stretch->records + at * stretch->is->record_bytes;
    if (stretch->is->kind == RM_BLOCK_RECORDS) {
        union rm_lane value;
        memcpy(&value, record + offsetof(struct rm_record, lane) + lane * sizeof value, sizeof value);
        double const number = stretch->is->lane[lane].type == RM_LANE_F32 ? (double)value.f : (double)value.i;
        summary_add(summary, 1, number, 0, number, number);
        return;
    }
    struct rm_reduced step;
    float number[STEP_NUMBERS];
    memcpy(&step, record, sizeof step);
    memcpy(number, record + sizeof step + lane * sizeof number, sizeof number);
    summary_add(summary, step.present, (double)number[STEP_MEAN], (double)number[STEP_DEVIATION],
                (double)number[STEP_MIN], (double)number[STEP_MAX]);
}

static double summary_field(struct summary const *summary, enum field field) {
    switch (field) {
    case FIELD_MEAN:
        return summary->mean;
    case FIELD_MIN:
        return summary->least;
    case FIELD_MAX:
        return summary->most;
    default:
        return summary->count > 0 ? sqrt(summary->squares / summary->count) : 0;
    }
}

/** Where the values of an answer are. */
struct answer {
    int32_t *values;
    /** Values of a sample, and of one column of it. */
    size_t sample_values, column_values;
    unsigned fields;
};

/** Writes X or Y of the wanted fields. */
static void answer_put(struct answer const *answer, uint64_t sample, uint32_t column, unsigned plane,
                       struct summary const *summary, double scale) {
    int32_t *value = answer->values + sample * answer->sample_values + column * answer->column_values + plane;
    for (unsigned field = 0; field < FA_FIELDS; ++field)
        if (answer->fields >> field & 1) {
            *value = fa_whole(summary_field(summary, field) * scale);
            value += 2;
        }
}

static void column_put(struct answer const *answer, struct fa_column const *column, uint32_t index,
                       struct stretch const *stretch, uint64_t count) {
    for (uint64_t sample = 0; sample < count; ++sample)
        for (unsigned plane = 0; plane < 2; ++plane) {
            struct summary summary = {.count = 0};
            for (uint64_t i = sample * stretch->in_sample; i < (sample + 1) * stretch->in_sample; ++i)
                if (stretch->results[i] == RM_ARCHIVE_OK)
                    summary_add_record(&summary, stretch, i, column->lane[plane]);
            answer_put(answer, sample, index, plane, &summary, column->scale[plane]);
        }
}

/** The frame counter: in a sample of n frames from c on, c to c + n − 1, each once. */
static void counter_put(struct answer const *answer, struct fa_plan const *plan, uint32_t index, uint64_t first,
                        uint64_t count) {
    uint64_t const in_sample = plan->sample_turns / plan->frame_turns;
    double const frames = (double)in_sample;
    for (uint64_t sample = 0; sample < count; ++sample) {
        uint64_t const turn = (first + sample) * plan->sample_turns;
        double const counter = (double)(int32_t)(uint32_t)(turn / plan->frame_turns);
        struct summary const summary = {.count = frames,
                                        .mean = counter + (frames - 1) / 2,
                                        .squares = frames * (frames * frames - 1) / 12,
                                        .least = counter,
                                        .most = counter + frames - 1};
        answer_put(answer, sample, index, 0, &summary, 1);
        answer_put(answer, sample, index, 1, &(struct summary){.count = 0}, 1);
    }
}

static enum rm_code column_read(struct answer const *answer, struct fa_plan const *plan, struct fa_history *history,
                                struct fa_piece const *piece, uint32_t index, uint64_t first, uint64_t count,
                                struct rm_error *error) {
    struct fa_column const *const column = &plan->column[index];
    struct rm_archive_object const *const object = rm_archive_object_at(history->archive, column->object);
    uint32_t const run = object_run(object, piece);
    if (run == UINT32_MAX)
        return RM_OK;
    uint64_t const in_sample = plan->sample_turns / object->is.period_turns;
    struct rm_archive_request const request = {
        .object = column->object, .run = run, .first_turn = first * plan->sample_turns, .count = count * in_sample};
    struct stretch stretch = {.is = &object->is,
                              .records = malloc(request.count * object->is.record_bytes),
                              .results = calloc(request.count, 1),
                              .in_sample = in_sample};
    struct rm_archive_answer const found = {.records = stretch.records, .results = stretch.results};
    enum rm_code code = RM_E_NO_SPACE;
    if (stretch.records != NULL && stretch.results != NULL)
        code = rm_archive_read(history->archive, &request, &found, error);
    if (code == RM_OK && stretch.results != NULL)
        column_put(answer, column, index, &stretch, count);
    free(stretch.records);
    free(stretch.results);
    return code;
}

enum rm_code fa_plan_read(struct fa_plan const *plan, struct fa_history *history, struct fa_piece const *piece,
                          uint64_t first, uint64_t count, unsigned fields, int32_t *values, struct rm_error *error) {
    size_t const column_values = 2ul * (unsigned)__builtin_popcount(fields);
    struct answer const answer = {.values = values,
                                  .sample_values = plan->column_count * column_values,
                                  .column_values = column_values,
                                  .fields = fields};
    enum rm_code code = RM_OK;
    memset(values, 0, count * answer.sample_values * sizeof *values);
    for (uint32_t c = 0; c < plan->column_count && code == RM_OK; ++c)
        if (plan->column[c].object == UINT32_MAX)
            counter_put(&answer, plan, c, first, count);
        else
            code = column_read(&answer, plan, history, piece, c, first, count, error);
    return code;
}

uint64_t fa_plan_utc_us(struct fa_plan const *plan, struct fa_history *history, struct fa_piece const *piece,
                        uint64_t sample) {
    struct rm_archive_object const *const lead =
        rm_archive_object_at(history->archive, plan->column[plan->lead].object);
    uint64_t const period = lead->is.period_turns;
    uint64_t utc_ns = 0;
    struct rm_archive_request const request = {.object = plan->column[plan->lead].object,
                                               .run = piece->run,
                                               .first_turn = sample * plan->sample_turns,
                                               .count = 1};
    struct rm_archive_answer const answer = {.utc_ns = &utc_ns};
    if (rm_archive_read(history->archive, &request, &answer, NULL) == RM_OK && utc_ns != 0)
        return utc_ns / 1000;
    /* Not recorded: by the rate of what was. */
    uint64_t const in_sample = plan->sample_turns / period;
    uint64_t const records = (piece->recorded_until - piece->recorded_first) * in_sample;
    double const record_ns =
        records > 1 ? (double)(piece->last_tai_ns - piece->first_tai_ns) / (double)(records - 1) : 0;
    double const away_ns = ((double)sample - (double)piece->recorded_first) * record_ns * (double)in_sample;
    int64_t const tai_ns = (int64_t)piece->first_tai_ns + (int64_t)away_ns;
    return (uint64_t)((tai_ns - (int64_t)piece->tai_minus_utc_s * 1000000000) / 1000);
}
