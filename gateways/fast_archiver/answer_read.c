// SPDX-License-Identifier: Apache-2.0
/** The answer to R. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "history.h"

enum {
    /** Bytes of data that are made at once. */
    CHUNK_BYTES = 32 << 20,
    /** Records of one object that are read at once. */
    CHUNK_RECORDS = 1 << 18,
    /** Times that the archive may change under a request before it is refused. */
    TRIES = 4,
};

/** The block that a time stands for: all of it, also where only a part is sent. */
struct block_time {
    uint64_t begin_us;
    uint32_t duration_us, id0;
};

/** What is sent, and how far it is. */
struct reply {
    struct fa_answering *answering;
    struct fa_read const *read;
    struct fa_history *history;
    struct fa_plan plan;
    int32_t *values;
    size_t sample_values;
    /** Times of TA, which stand at the end. */
    struct block_time *time;
    uint32_t time_count, time_room;
};

static struct block_time reply_block_time(struct reply const *reply, struct fa_piece const *piece, uint64_t sample) {
    struct fa_plan const *const plan = &reply->plan;
    uint64_t const begin = sample - sample % plan->block;
    uint64_t const begin_us = fa_plan_utc_us(plan, reply->history, piece, begin);
    uint64_t const end_us = fa_plan_utc_us(plan, reply->history, piece, begin + plan->block);
    return (struct block_time){.begin_us = begin_us,
                               .duration_us = (uint32_t)(end_us - begin_us),
                               .id0 = (uint32_t)(begin * plan->sample_turns / plan->frame_turns)};
}

static void reply_put_block_time(struct reply *reply, struct block_time const *time) {
    struct fa_out *const out = &reply->answering->out;
    fa_out_put(out, &time->begin_us, sizeof time->begin_us);
    fa_out_put(out, &time->duration_us, sizeof time->duration_us);
    if (reply->read->id0)
        fa_out_put(out, &time->id0, sizeof time->id0);
}

static void reply_keep_block_time(struct reply *reply, struct block_time const *time) {
    if (reply->time_count == reply->time_room) {
        uint32_t const room = reply->time_room == 0 ? 1024 : 2 * reply->time_room;
        struct block_time *const times = realloc(reply->time, room * sizeof *times);
        if (times == NULL) {
            reply->answering->out.failed = true;
            return;
        }
        reply->time = times;
        reply->time_room = room;
    }
    reply->time[reply->time_count++] = *time;
}

static void reply_begin_block(struct reply *reply, struct fa_piece const *piece, uint64_t sample) {
    if (reply->read->times != FA_TIMES_BLOCKS && reply->read->times != FA_TIMES_END)
        return;
    struct block_time const time = reply_block_time(reply, piece, sample);
    if (reply->read->times == FA_TIMES_BLOCKS)
        reply_put_block_time(reply, &time);
    else
        reply_keep_block_time(reply, &time);
}

/** Puts samples that were read, with their blocks' times. */
static void reply_put_samples(struct reply *reply, struct fa_piece const *piece, uint64_t first, uint64_t count,
                              bool begins) {
    uint64_t const block = reply->plan.block;
    for (uint64_t at = 0; at < count && !reply->answering->out.failed;) {
        uint64_t const in_block = (first + at) % block, left = count - at;
        uint64_t const part = block - in_block < left ? block - in_block : left;
        if (in_block == 0 || (begins && at == 0))
            reply_begin_block(reply, piece, first + at);
        fa_out_put(&reply->answering->out, reply->values + at * reply->sample_values,
                   part * reply->sample_values * sizeof *reply->values);
        at += part;
    }
}

/** Most samples that are read at once. */
static uint64_t reply_chunk(struct reply const *reply) {
    uint64_t const by_bytes = CHUNK_BYTES / (reply->sample_values * sizeof *reply->values);
    uint64_t const records = reply->plan.sample_turns / reply->plan.frame_turns;
    uint64_t const by_records = CHUNK_RECORDS / records;
    uint64_t const chunk = by_bytes < by_records ? by_bytes : by_records;
    return chunk < 1 ? 1 : chunk;
}

static void reply_put_data(struct reply *reply) {
    struct fa_plan const *const plan = &reply->plan;
    uint64_t const chunk = reply_chunk(reply);
    for (uint32_t p = 0; p < plan->piece_count; ++p) {
        struct fa_piece const *const piece = &plan->piece[p];
        for (uint64_t at = piece->first; at < piece->until && !reply->answering->out.failed;) {
            uint64_t const left = piece->until - at, count = left < chunk ? left : chunk;
            if (*reply->answering->server->ending || fa_plan_read(plan, reply->history, piece, at, count,
                                                                  reply->read->fields, reply->values, NULL) != RM_OK) {
                reply->answering->out.failed = true; /* cut off: the client sees that data is missing */
                return;
            }
            reply_put_samples(reply, piece, at, count, at == piece->first);
            at += count;
        }
    }
}

static void reply_put_head(struct reply *reply) {
    struct fa_out *const out = &reply->answering->out;
    struct fa_plan const *const plan = &reply->plan;
    struct fa_piece const *const piece = &plan->piece[0];
    uint32_t const blocks[2] = {(uint32_t)plan->block, (uint32_t)(piece->first % plan->block)};
    bool const has_blocks = reply->read->times == FA_TIMES_BLOCKS || reply->read->times == FA_TIMES_END;
    fa_out_put(out, "", 1);
    if (reply->read->sends_count)
        fa_out_put(out, &plan->samples, sizeof plan->samples);
    if (has_blocks) {
        fa_out_put(out, blocks, sizeof blocks);
        return;
    }
    if (reply->read->times == FA_TIMES_FIRST) {
        uint64_t const begin_us = fa_plan_utc_us(plan, reply->history, piece, piece->first);
        fa_out_put(out, &begin_us, sizeof begin_us);
    }
    if (reply->read->id0) {
        uint32_t const id0 = (uint32_t)(piece->first * plan->sample_turns / plan->frame_turns);
        fa_out_put(out, &id0, sizeof id0);
    }
}

static void reply_put_times(struct reply *reply) {
    struct fa_out *const out = &reply->answering->out;
    if (reply->read->times != FA_TIMES_END)
        return;
    fa_out_put(out, &reply->time_count, sizeof reply->time_count);
    for (uint32_t i = 0; i < reply->time_count; ++i)
        fa_out_put(out, &reply->time[i].begin_us, sizeof reply->time[i].begin_us);
    for (uint32_t i = 0; i < reply->time_count; ++i)
        fa_out_put(out, &reply->time[i].duration_us, sizeof reply->time[i].duration_us);
    for (uint32_t i = 0; i < reply->time_count && reply->read->id0; ++i)
        fa_out_put(out, &reply->time[i].id0, sizeof reply->time[i].id0);
}

/** Opens the archive and plans; a file that is removed or stored anew meanwhile is looked for again. */
static enum rm_code reply_plan(struct reply *reply, struct rm_error *error) {
    enum rm_code code = RM_E_BUSY;
    for (unsigned tries = 0; tries < TRIES && code == RM_E_BUSY; ++tries) {
        fa_history_close(reply->history);
        code = fa_history_open(reply->history, reply->answering->server->file, reply->answering->shown.period_turns,
                               error);
        if (code == RM_OK)
            code = fa_plan_make(&reply->plan, reply->history, reply->read, error);
    }
    if (code != RM_OK)
        return code;
    reply->sample_values = 2ul * reply->plan.column_count * (unsigned)__builtin_popcount(reply->read->fields);
    reply->values = malloc(reply_chunk(reply) * reply->sample_values * sizeof *reply->values);
    return reply->values != NULL ? RM_OK : RM_E_NO_SPACE;
}

static void reply_send(struct reply *reply) {
    struct rm_error error = {.text = "No memory for the answer"};
    if (reply_plan(reply, &error) != RM_OK) {
        fa_out_print(&reply->answering->out, "%.400s\n", error.text);
    } else {
        reply_put_head(reply);
        reply_put_data(reply);
        if (!reply->answering->out.failed)
            reply_put_times(reply);
    }
    fa_plan_free(&reply->plan);
    free(reply->values);
    free(reply->time);
}

/** Takes one of the places for reading. */
static bool reads_enter(struct fa_server *server) {
    pthread_mutex_lock(&server->lock);
    bool const is_free = server->reading < FA_READS_MAX;
    server->reading += is_free;
    pthread_mutex_unlock(&server->lock);
    return is_free;
}

static void reads_leave(struct fa_server *server) {
    pthread_mutex_lock(&server->lock);
    server->reading--;
    pthread_mutex_unlock(&server->lock);
}

void fa_answer_read(struct fa_answering *answering) {
    struct fa_server *const server = answering->server;
    struct fa_history history = {.archive = NULL};
    struct fa_read read;
    char error[FA_ERROR_BYTES];
    if (!fa_read_parse(answering->client->line, server->file->id_count, &read, error)) {
        fa_out_print(&answering->out, "%s", error);
        return;
    }
    if (!reads_enter(server)) {
        fa_out_print(&answering->out, "Read too busy\n");
        return;
    }
    struct reply reply = {.answering = answering, .read = &read, .history = &history};
    reply_send(&reply);
    fa_history_close(&history);
    reads_leave(server);
}
