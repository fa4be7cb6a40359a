// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include <string.h>

#include "frames_parts.h"

/** The heads of the streams: of those that have one, the first and the last; and whether one is of another turn-counter
 * epoch than the frames, so that the heads tell nothing of these. */
struct heads {
    rm_turn least, most;
    bool restarted;
};

static struct heads frames_heads(struct fa_frames const *frames) {
    struct heads heads = {.least = RM_TURN_NONE};
    for (uint32_t s = 0; s < frames->stream_count; ++s) {
        struct rm_stream_look look;
        rm_stream_look(&frames->stream[s].view, &look);
        heads.restarted = heads.restarted || look.turn_epoch != frames->stream[s].turn_epoch;
        if (look.head == RM_TURN_NONE)
            continue;
        heads.least = look.head < heads.least ? look.head : heads.least;
        heads.most = look.head > heads.most ? look.head : heads.most;
    }
    return heads;
}

bool fa_frames_begin(struct fa_frames *frames) {
    for (uint32_t s = 0; s < frames->stream_count; ++s) {
        struct rm_stream_look look;
        rm_stream_look(&frames->stream[s].view, &look);
        frames->stream[s].turn_epoch = look.turn_epoch;
    }
    struct heads const heads = frames_heads(frames);
    if (heads.least == RM_TURN_NONE)
        return false;
    frames->next_turn = heads.most - heads.most % frames->period + frames->period;
    return true;
}

static bool frames_gap(struct fa_frames *frames) {
    frames->gaps++;
    frames->next_turn = RM_TURN_NONE;
    (void)fa_frames_begin(frames);
    return false;
}

/** How many frames can be made: of turns that all have passed, or one has long passed. */
static uint64_t frames_ready(struct fa_frames const *frames, struct heads heads) {
    rm_turn const waited = heads.most > frames->wait_turns ? heads.most - frames->wait_turns : 0;
    rm_turn const last = heads.least > waited ? heads.least : waited;
    return last < frames->next_turn ? 0 : (last - frames->next_turn) / frames->period + 1;
}

static void stream_convert(struct fa_stream const *stream, struct rm_record const *record, double out[RM_LANES]) {
    if (stream->calibration.stated == RM_CALIBRATED_IN_READING) {
        rm_calibrate(&stream->calibration.calibration, record, stream->view.header->lane, out);
        return;
    }
    for (unsigned plane = 0; plane < 2; ++plane)
        out[stream->pair.lane[plane]] = rm_lane_value(stream->view.header, record, (unsigned)stream->pair.lane[plane]);
}

/** Writes X and Y of a stream's id into a frame; zeros where it has no record. */
static void frame_take(struct fa_stream const *stream, struct rm_record const *record, int32_t *value) {
    struct fa_pair const *const pair = &stream->pair;
    double lane[RM_LANES] = {0};
    if (record != NULL)
        stream_convert(stream, record, lane);
    for (unsigned plane = 0; plane < 2; ++plane)
        value[2 * pair->id + plane] = fa_whole(lane[pair->lane[plane]] * pair->scale[plane]);
}

/** What became of the records of one stream. */
enum taken { TAKEN_ALL, TAKEN_GAP };

/** Takes `*count` records of a stream. Where one may still come, `*count` becomes less. `missing` has a count for each
 * frame. */
static enum taken frames_take_stream(struct fa_frames *frames, struct fa_stream const *stream, rm_turn waited,
                                     uint64_t *count, uint32_t missing[FA_CHUNK]) {
    struct rm_stream_look look;
    rm_stream_read_results(&stream->view, frames->next_turn, *count, frames->record, frames->result, &look);
    if (look.turn_epoch != stream->turn_epoch)
        return TAKEN_GAP;
    for (uint64_t i = 0; i < *count; ++i) {
        rm_turn const turn = frames->next_turn + i * frames->period;
        int32_t *const value = frames->value + ((frames->next + i) & (frames->capacity - 1)) * 2 * frames->id_count;
        bool const is_there = frames->result[i] == RM_READ_OK;
        if (frames->result[i] == RM_READ_LAPPED)
            return TAKEN_GAP;
        if (!is_there && frames->result[i] != RM_READ_BEFORE && turn > waited) {
            *count = i;
            return TAKEN_ALL;
        }
        missing[i] += !is_there;
        frame_take(stream, is_there ? &frames->record[i] : NULL, value);
    }
    return TAKEN_ALL;
}

/** Makes `count` frames, or fewer where records may still come. */
static enum taken frames_take(struct fa_frames *frames, rm_turn waited, uint64_t *count) {
    uint32_t missing[FA_CHUNK] = {0};
    for (uint32_t s = 0; s<frames->stream_count && * count> 0; ++s)
        if (frames_take_stream(frames, &frames->stream[s], waited, count, missing) == TAKEN_GAP)
            return TAKEN_GAP;
    for (uint64_t i = 0; i < *count; ++i) {
        frames->value[((frames->next + i) & (frames->capacity - 1)) * 2 * frames->id_count] =
            (int32_t)(uint32_t)((frames->next_turn + i * frames->period) / frames->period);
        frames->missing += missing[i];
    }
    frames->next += *count;
    frames->next_turn += *count * frames->period;
    return TAKEN_ALL;
}

bool fa_frames_make(struct fa_frames *frames) {
    if (frames->next_turn == RM_TURN_NONE && !fa_frames_begin(frames))
        return true;
    struct heads const heads = frames_heads(frames);
    if (heads.restarted || heads.least == RM_TURN_NONE)
        return frames_gap(frames);
    rm_turn const waited = heads.most > frames->wait_turns ? heads.most - frames->wait_turns : 0;
    for (uint64_t left = frames_ready(frames, heads); left > 0;) {
        uint64_t const wanted = left < FA_CHUNK ? left : FA_CHUNK;
        uint64_t count = wanted;
        if (frames_take(frames, waited, &count) == TAKEN_GAP)
            return frames_gap(frames);
        left = count == wanted ? left - count : 0;
    }
    return true;
}
