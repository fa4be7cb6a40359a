// SPDX-License-Identifier: Apache-2.0
/** Which records the frames are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>

#include "frames.h"
#include "frames_parts.h"

/** How many seconds of frames a client may be behind, and the least of them. */
static double const KEPT_S = 2;
enum { CAPACITY_LEAST = 256 };

/** How long a stream may be behind another: a core of the server may be taken away for a while. At most that share of
 * its ring. */
static double const WAIT_S = 0.2;
enum { RING_SHARE = 4 };

double fa_unit_nm(char const *unit) {
    static struct {
        char const *unit;
        double nm;
    } const units[] = {{"m", 1e9}, {"mm", 1e6}, {"um", 1e3}, {"µm", 1e3}, {"nm", 1}, {"pm", 1e-3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
        if (strcmp(unit, units[i].unit) == 0)
            return units[i].nm;
    return 1;
}

/** Of a stream that was just opened. */
static enum rm_code pair_open(struct fa_pair *pair, struct rm_stream const *header,
                              struct rm_calibrated_stream const *calibration, struct fa_file_ids const *ids,
                              char const *name, struct rm_error *error) {
    char const *const lanes[2] = {ids->x, ids->y};
    for (unsigned plane = 0; plane < 2; ++plane) {
        int const lane = rm_stream_lane(header, lanes[plane]);
        if (lane < 0)
            return rm_fail(error, RM_E_CONFIG, "%s has no lane \"%s\"; `ringmaster ls --json` has its lanes", name,
                           lanes[plane]);
        pair->lane[plane] = lane;
        pair->scale[plane] = fa_unit_nm(calibration->unit[lane]);
    }
    return RM_OK;
}

/** Opens one stream for one id. Two ids of one stream read it twice: it lies in the cache then. */
static enum rm_code id_open(struct fa_frames *frames, struct rm_workspace const *workspace,
                            struct fa_file_ids const *ids, uint32_t id, char const *name, struct rm_error *error) {
    struct fa_stream *const stream = &frames->stream[frames->stream_count];
    struct rm_stream_view view = {.header = NULL};
    enum rm_code code = rm_workspace_stream(workspace, name, &view, error);
    if (code != RM_OK || view.header == NULL)
        return code;
    code = rm_stream_calibration(workspace, name, &stream->calibration, error);
    if (code == RM_OK)
        code = pair_open(&stream->pair, view.header, &stream->calibration, ids, name, error);
    if (code != RM_OK)
        return code;
    if (frames->stream_count > 0 && view.period != frames->period)
        return rm_fail(error, RM_E_CONFIG,
                       "%s has a record every %llu turns, and those before every %llu: a frame has one rate", name,
                       (unsigned long long)view.period, (unsigned long long)frames->period);
    uint64_t const ring_turns = view.header->capacity * view.period / RING_SHARE;
    frames->wait_turns = ring_turns < frames->wait_turns ? ring_turns : frames->wait_turns;
    frames->period = view.period;
    stream->view = view;
    stream->pair.id = id;
    frames->stream_count++;
    return RM_OK;
}

static enum rm_code entry_open(struct fa_frames *frames, struct rm_workspace const *workspace,
                               struct fa_file_ids const *ids, char const *rate, struct rm_error *error) {
    uint32_t const count = ids->count == 0 ? 1 : ids->count;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < count && code == RM_OK; ++i) {
        char instrument[RM_NAME_BYTES], name[RM_NAME_BYTES + 32];
        if (!fa_file_instrument(ids, i, instrument))
            return rm_fail(error, RM_E_CONFIG, "the name of instrument %u of \"%s\" is too long", i, ids->instrument);
        snprintf(name, sizeof name, "%s/%s", instrument, rate);
        code = id_open(frames, workspace, ids, ids->id + i, name, error);
    }
    return code;
}

static uint64_t frames_capacity(struct fa_frames const *frames, double turn_rate_hz) {
    uint64_t capacity = CAPACITY_LEAST;
    while ((double)capacity * (double)frames->period < KEPT_S * turn_rate_hz)
        capacity *= 2;
    return capacity;
}

static enum rm_code frames_open_all(struct fa_frames *frames, struct rm_workspace const *workspace,
                                    struct fa_file const *file, char const *rate, double turn_rate_hz,
                                    struct rm_error *error) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < file->ids_count; ++i)
        count += file->ids[i].count == 0 ? 1 : file->ids[i].count;
    frames->stream = calloc(count + 1ul, sizeof *frames->stream);
    frames->record = aligned_alloc(RM_CACHE_LINE, FA_CHUNK * sizeof *frames->record);
    frames->result = calloc(FA_CHUNK, 1);
    if (frames->stream == NULL || frames->record == NULL || frames->result == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u ids", count);
    frames->wait_turns = (uint64_t)(WAIT_S * turn_rate_hz);
    for (uint32_t i = 0; i < file->ids_count; ++i) {
        enum rm_code const code = entry_open(frames, workspace, &file->ids[i], rate, error);
        if (code != RM_OK)
            return code;
    }
    frames->capacity = frames_capacity(frames, turn_rate_hz);
    frames->value = calloc(frames->capacity * 2 * frames->id_count, sizeof *frames->value);
    return frames->value != NULL ? RM_OK
                                 : rm_fail(error, RM_E_NO_SPACE, "no memory for %llu frames of %u ids",
                                           (unsigned long long)frames->capacity, frames->id_count);
}

enum rm_code fa_frames_open(struct fa_frames *frames, struct rm_workspace const *workspace, struct fa_file const *file,
                            char const *rate, double turn_rate_hz, struct rm_error *error) {
    *frames = (struct fa_frames){.id_count = file->id_count, .next_turn = RM_TURN_NONE};
    enum rm_code const code = frames_open_all(frames, workspace, file, rate, turn_rate_hz, error);
    if (code != RM_OK)
        fa_frames_close(frames);
    return code;
}

void fa_frames_close(struct fa_frames *frames) {
    free(frames->stream);
    free(frames->record);
    free(frames->result);
    free(frames->value);
    *frames = (struct fa_frames){.next_turn = RM_TURN_NONE};
}
