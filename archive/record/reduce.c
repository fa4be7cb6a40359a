// SPDX-License-Identifier: Apache-2.0
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "archive/format/block.h"

bool rm_reduction_level_make(struct rm_reducer const *reducer, struct rm_reduction_level *level) {
    level->step = UINT64_MAX;
    level->waiting = malloc(RM_REDUCED_WAITING * rm_reduced_bytes(reducer->lane_count));
    return level->waiting != NULL;
}

static bool reduction_append(struct rm_reduction_level *level, struct rm_block *block, void const *payload,
                             struct rm_record_moment const *moment) {
    size_t bytes;
    void *room = rm_log_room(level->log, block->stored_bytes, &bytes, moment->now_ns, moment->tai_ns);
    if (room == NULL)
        return false;
    memcpy(room, payload, block->stored_bytes);
    rm_log_append(level->log, block);
    return true;
}

/** Marks steps that were lost; false: there is no room yet. */
static bool reduction_tell_loss(struct rm_reduction_level *level, struct rm_record_moment const *moment) {
    struct rm_follow_loss const *loss = &level->loss;
    if (loss->reason == 0)
        return true;
    struct rm_mark const mark = {.reason = loss->reason,
                                 .error = loss->error,
                                 .first_turn = loss->first,
                                 .last_turn = loss->last,
                                 .records = loss->records};
    struct rm_block block = {.kind = RM_BLOCK_MARK,
                             .object = level->object,
                             .count = 1,
                             .stored_bytes = sizeof mark,
                             .plain_bytes = sizeof mark,
                             .turn_epoch = (uint16_t)level->turn_epoch,
                             .first_turn = loss->first,
                             .first_tai_ns = rm_record_tai_of(moment, level->turn_epoch, loss->first),
                             .last_tai_ns = rm_record_tai_of(moment, level->turn_epoch, loss->last)};
    if (!reduction_append(level, &block, &mark, moment))
        return false;
    level->loss = (struct rm_follow_loss){.reason = 0};
    return true;
}

void rm_reduction_flush(struct rm_reducer *reducer, struct rm_reduction_level *level,
                        struct rm_record_moment const *moment) {
    uint32_t const bytes = level->count * (uint32_t)rm_reduced_bytes(reducer->lane_count);
    struct rm_block block = {.kind = RM_BLOCK_REDUCED,
                             .turn_epoch = (uint16_t)level->waiting_epoch,
                             .object = level->object,
                             .count = level->count,
                             .stored_bytes = bytes,
                             .plain_bytes = bytes,
                             .first_turn = level->first_turn,
                             .first_tai_ns = level->first_tai_ns,
                             .last_tai_ns = level->last_tai_ns};
    if (level->count > 0 && reduction_append(level, &block, level->waiting, moment))
        level->count = 0;
    if (level->count == 0)
        reduction_tell_loss(level, moment);
}

static void reduction_lose(struct rm_reduction_level *level, rm_turn turn) {
    unsigned const reason = level->log->trouble != 0 ? level->log->trouble : RM_MARK_DISK_SLOW;
    if (level->loss.reason == 0)
        level->loss = (struct rm_follow_loss){.reason = reason, .error = level->log->trouble_error, .first = turn};
    level->loss.last = turn;
    ++level->loss.records;
    ++level->lost[reason];
}

/** Puts the step that was gathered to those that wait. */
static void reduction_emit(struct rm_reducer *reducer, struct rm_reduction_level *level,
                           struct rm_record_moment const *moment) {
    size_t const bytes = rm_reduced_bytes(reducer->lane_count);
    rm_turn const turn = level->step * level->step_turns;
    bool const follows = level->count > 0 && level->waiting_epoch == level->turn_epoch &&
                         level->first_turn + level->count * level->step_turns == turn;
    if (level->count == RM_REDUCED_WAITING || (level->count > 0 && !follows))
        rm_reduction_flush(reducer, level, moment);
    if (level->count == RM_REDUCED_WAITING || (level->count > 0 && !follows)) {
        reduction_lose(level, turn);
        return;
    }
    struct rm_reduced const head = {
        .turn = level->statistics.count > 0 ? turn : RM_TURN_NONE,
        .present = (uint32_t)level->statistics.count,
        .missing = (uint32_t)(level->whole - level->statistics.count),
    };
    uint8_t *at = level->waiting + level->count * bytes;
    float values[4 * RM_LANES];
    rm_statistics_write(&level->statistics, reducer->lane_count, values);
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, values, bytes - sizeof head);
    level->last_tai_ns = rm_record_tai_of(moment, level->turn_epoch, turn);
    if (level->count++ == 0) {
        level->first_turn = turn;
        level->first_tai_ns = level->last_tai_ns;
        level->waiting_epoch = level->turn_epoch;
    }
}

/** Ends the step of a level: to those that wait, and into the next level. */
static void reducer_end_step(struct rm_reducer *reducer, unsigned which, struct rm_record_moment const *moment);

static void reducer_add(struct rm_reducer *reducer, unsigned which, rm_turn turn, uint64_t turn_epoch,
                        struct rm_record_moment const *moment) {
    struct rm_reduction_level *level = &reducer->level[which];
    uint64_t const step = turn / level->step_turns;
    if (level->step != UINT64_MAX && (step != level->step || turn_epoch != level->turn_epoch))
        reducer_end_step(reducer, which, moment);
    level->step = step;
    level->turn_epoch = turn_epoch;
}

static void reducer_end_step(struct rm_reducer *reducer, unsigned which, struct rm_record_moment const *moment) {
    struct rm_reduction_level *level = &reducer->level[which];
    reduction_emit(reducer, level, moment);
    if (which + 1 < reducer->level_count) {
        reducer_add(reducer, which + 1, level->step * level->step_turns, level->turn_epoch, moment);
        rm_statistics_merge(&reducer->level[which + 1].statistics, &level->statistics);
    }
    level->statistics = (struct rm_statistics){.count = 0};
    level->step = UINT64_MAX;
}

void rm_reducer_take(void *reducer, struct rm_record const *records, size_t count, rm_turn first, uint64_t turn_epoch,
                     struct rm_record_moment const *moment) {
    struct rm_reducer *self = reducer;
    struct rm_reduction_level *level = &self->level[0];
    for (size_t i = 0; i < count;) {
        rm_turn const turn = first + i * self->period_turns;
        reducer_add(self, 0, turn, turn_epoch, moment);
        uint64_t const left =
            ((level->step + 1) * level->step_turns - turn + self->period_turns - 1) / self->period_turns;
        size_t const some = left < count - i ? (size_t)left : count - i;
        rm_statistics_add(&level->statistics, records + i, some, self->floats);
        i += some;
    }
}
