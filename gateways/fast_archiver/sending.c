// SPDX-License-Identifier: Apache-2.0
#include "sending.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BLOCK_FRAMES_MAX = 128,
    /** Bytes in front of a block, at most: time, duration, id0. */
    BLOCK_HEAD_BYTES = 16,
    /** Times that a buffer is filled before others have their turn. */
    FILLS_MAX = 8,
    /** Share of the kept frames that a client may be behind, in eighths: the rest is room for what is being made. */
    KEPT_EIGHTHS = 7,
};

static double const BLOCK_S = 0.1;

uint64_t fa_block_frames(double rate_hz) {
    uint64_t const frames = (uint64_t)(rate_hz * BLOCK_S);
    return frames < 1 ? 1 : frames > BLOCK_FRAMES_MAX ? BLOCK_FRAMES_MAX : frames;
}

static void sending_put(struct fa_sending *sending, void const *data, size_t bytes) {
    memcpy(sending->buffer + sending->bytes, data, bytes);
    sending->bytes += bytes;
}

static void sending_put_u32(struct fa_sending *sending, uint64_t value) {
    uint32_t const word = (uint32_t)value;
    sending_put(sending, &word, sizeof word);
}

static void sending_put_u64(struct fa_sending *sending, uint64_t value) { sending_put(sending, &value, sizeof value); }

/** What stands before the first frame. */
static void sending_put_head(struct fa_sending *sending, struct fa_live const *live) {
    struct fa_frames const *const frames = &live->frames[sending->rate];
    rm_turn const turn = fa_frames_turn(frames, sending->at);
    sending_put(sending, "", 1);
    if (sending->wants.times == FA_TIMES_BLOCKS) {
        sending_put_u32(sending, sending->block);
        sending_put_u32(sending, 0);
        return;
    }
    if (sending->wants.times == FA_TIMES_FIRST)
        sending_put_u64(sending, fa_live_utc_us(live, turn));
    if (sending->wants.id0)
        sending_put_u32(sending, turn / frames->period);
}

/** What stands before each block of TE. */
static void sending_put_block_head(struct fa_sending *sending, struct fa_live const *live) {
    struct fa_frames const *const frames = &live->frames[sending->rate];
    rm_turn const turn = fa_frames_turn(frames, sending->at);
    uint64_t const begin_us = fa_live_utc_us(live, turn);
    sending_put_u64(sending, begin_us);
    sending_put_u32(sending, fa_live_utc_us(live, turn + sending->block * frames->period) - begin_us);
    if (sending->wants.id0)
        sending_put_u32(sending, turn / frames->period);
}

/** Position of a frame in its block; blocks begin at multiples of their frames, counted from turn 0. */
static uint64_t sending_in_block(struct fa_sending const *sending, struct fa_frames const *frames, uint64_t number) {
    return fa_frames_turn(frames, number) / frames->period % sending->block;
}

bool fa_sending_begin(struct fa_sending *sending, struct fa_live const *live, char error[FA_ERROR_BYTES]) {
    struct fa_frames const *const frames = &live->frames[sending->rate];
    if (live->workspace == NULL || !live->reading.anchored || frames->next_turn == RM_TURN_NONE) {
        snprintf(error, FA_ERROR_BYTES, "No data currently available\n");
        return false;
    }
    sending->buffer = malloc(FA_SEND_BYTES);
    sending->stretch = calloc(FA_IDS_MAX / 2, sizeof *sending->stretch);
    if (sending->buffer == NULL || sending->stretch == NULL) {
        fa_sending_end(sending);
        snprintf(error, FA_ERROR_BYTES, "No memory for another client\n");
        return false;
    }
    sending->id_count = fa_mask_count(&sending->wants.mask);
    sending->stretch_count = fa_mask_stretches(&sending->wants.mask, sending->stretch);
    sending->block = fa_block_frames(fa_live_rate_hz(live, sending->rate));
    sending->at = frames->next;
    sending->gaps = frames->gaps;
    sending->bytes = sending->sent = 0;
    sending->stalled_ns = 0;
    while (sending->wants.times == FA_TIMES_BLOCKS && sending_in_block(sending, frames, sending->at) != 0)
        ++sending->at;
    sending_put_head(sending, live);
    return true;
}

void fa_sending_end(struct fa_sending *sending) {
    free(sending->buffer);
    free(sending->stretch);
    sending->buffer = NULL;
    sending->stretch = NULL;
}

/** The number of the first frame that is not sent yet: without U whole blocks are sent. */
static uint64_t sending_until(struct fa_sending const *sending, struct fa_frames const *frames) {
    if (frames->next <= sending->at || sending->wants.uncork)
        return frames->next;
    uint64_t const made = frames->next - sending->at, begun = sending_in_block(sending, frames, frames->next);
    return made > begun ? frames->next - begun : sending->at;
}

static void sending_put_frame(struct fa_sending *sending, int32_t const *value) {
    for (unsigned i = 0; i < sending->stretch_count; ++i)
        sending_put(sending, value + 2ul * sending->stretch[i].first, 2ul * sending->stretch[i].count * sizeof *value);
}

static void sending_fill(struct fa_sending *sending, struct fa_live const *live) {
    struct fa_frames const *const frames = &live->frames[sending->rate];
    uint64_t const until = sending_until(sending, frames);
    size_t const frame_bytes = 2ul * sending->id_count * sizeof(int32_t) + BLOCK_HEAD_BYTES;
    bool const has_heads = sending->wants.times == FA_TIMES_BLOCKS;
    for (; sending->at < until && sending->bytes + frame_bytes <= FA_SEND_BYTES; ++sending->at) {
        if (has_heads && sending_in_block(sending, frames, sending->at) == 0)
            sending_put_block_head(sending, live);
        sending_put_frame(sending, fa_frames_at(frames, sending->at));
    }
}

/** Sends what is in the buffer. */
static enum fa_sent sending_flush(struct fa_sending *sending, int socket, uint64_t now_ns) {
    while (sending->sent < sending->bytes) {
        ssize_t const bytes =
            send(socket, sending->buffer + sending->sent, sending->bytes - sending->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (bytes < 0 && errno != EAGAIN && errno != EINTR)
            return FA_SENT_GONE;
        if (bytes < 0 && errno == EAGAIN) {
            if (sending->stalled_ns == 0)
                sending->stalled_ns = now_ns;
            return now_ns - sending->stalled_ns > FA_SEND_TIMEOUT_S * 1000000000ull ? FA_SENT_TOO_SLOW : FA_SENT_WAITS;
        }
        if (bytes > 0) {
            sending->sent += (size_t)bytes;
            sending->stalled_ns = 0;
        }
    }
    sending->bytes = sending->sent = 0;
    return FA_SENT_ALL;
}

enum fa_sent fa_sending_step(struct fa_sending *sending, struct fa_live const *live, int socket, uint64_t now_ns) {
    struct fa_frames const *const frames = &live->frames[sending->rate];
    if (live->workspace == NULL || frames->gaps != sending->gaps)
        return FA_SENT_GAP;
    for (unsigned fill = 0; fill < FILLS_MAX; ++fill) {
        if (frames->next > sending->at && frames->next - sending->at > frames->capacity / 8 * KEPT_EIGHTHS)
            return FA_SENT_TOO_SLOW;
        enum fa_sent const sent = sending_flush(sending, socket, now_ns);
        if (sent != FA_SENT_ALL)
            return sent;
        sending_fill(sending, live);
        if (sending->bytes == 0)
            return FA_SENT_ALL;
    }
    return FA_SENT_MORE;
}
