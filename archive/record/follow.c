// SPDX-License-Identifier: Apache-2.0
#include "follow.h"

#include <string.h>

enum {
    /** Most records of a block: 1 MiB. */
    BLOCK_RECORDS_MAX = (1 << 20) / sizeof(struct rm_record),
    /** Records that are read at a time where there is no room for them. */
    SCRATCH_RECORDS = 1024,
    /** A head that stood for so long has had all its late records. */
    STILL_NS = 200 * 1000 * 1000,
};

uint64_t rm_record_tai_of(struct rm_record_moment const *moment, uint64_t turn_epoch, rm_turn turn) {
    struct rm_clock_reading const *clock = &moment->clock;
    if (!clock->anchored || clock->turn_epoch != turn_epoch || turn == RM_TURN_NONE)
        return moment->tai_ns;
    return rm_clock_tai_ns(clock, rm_clock_tsc(clock, turn));
}

/** Writes a mark into the log; false: there is no room. */
static bool follow_mark_write(struct rm_follow *follow, struct rm_record_moment const *moment,
                              struct rm_mark const *mark) {
    size_t bytes;
    void *payload = rm_log_room(follow->log, sizeof *mark, &bytes, moment->now_ns, moment->tai_ns);
    if (payload == NULL)
        return false;
    memcpy(payload, mark, sizeof *mark);
    rm_turn const first = mark->first_turn, last = mark->last_turn;
    struct rm_block block = {
        .kind = RM_BLOCK_MARK,
        .turn_epoch = (uint16_t)follow->turn_epoch,
        .object = follow->object,
        .count = 1,
        .stored_bytes = sizeof *mark,
        .plain_bytes = sizeof *mark,
        .first_turn = first,
        .first_tai_ns = rm_record_tai_of(moment, follow->turn_epoch, first),
        .last_tai_ns = rm_record_tai_of(moment, follow->turn_epoch, last),
    };
    rm_log_append(follow->log, &block);
    return true;
}

void rm_follow_mark(struct rm_follow *follow, struct rm_record_moment const *moment, enum rm_mark_reason reason) {
    struct rm_mark const mark = {.reason = reason, .first_turn = follow->next, .last_turn = RM_TURN_NONE};
    follow_mark_write(follow, moment, &mark);
}

/** Adds to what was lost, as one stretch. */
static void follow_lose(struct rm_follow *follow, rm_turn first, uint64_t records, unsigned reason, int error) {
    if (records == 0)
        return;
    if (follow->loss.reason == 0)
        follow->loss = (struct rm_follow_loss){.reason = reason, .error = error, .first = first};
    follow->loss.last = first + (records - 1) * follow->view.period;
    follow->loss.records += records;
    follow->lost[reason] += records;
}

/** Marks what was lost before anything else of the stream is written; false: there is no room for the mark. */
static bool follow_tell_loss(struct rm_follow *follow, struct rm_record_moment const *moment) {
    if (follow->loss.reason == 0)
        return true;
    struct rm_mark const mark = {
        .reason = follow->loss.reason,
        .error = follow->loss.error,
        .first_turn = follow->loss.first,
        .last_turn = follow->loss.last,
        .records = follow->loss.records,
    };
    if (!follow_mark_write(follow, moment, &mark))
        return false;
    follow->loss.reason = 0;
    follow->loss.records = 0;
    return true;
}

static void follow_begin(struct rm_follow *follow, struct rm_record_moment const *moment,
                         struct rm_stream_look const *look) {
    bool const first = follow->next == RM_TURN_NONE;
    bool const restarted = !first && look->turn_epoch != follow->turn_epoch;
    if (!first && !restarted)
        return;
    if (restarted)
        follow_tell_loss(follow, moment);
    follow->turn_epoch = look->turn_epoch;
    follow->next = restarted || follow->was_empty ? look->first : look->head;
    follow->head = RM_TURN_NONE;
    rm_follow_mark(follow, moment, restarted ? RM_MARK_RESTARTED : RM_MARK_BEGAN);
}

/** Records that can be taken: up to the head, less what may still come. */
static uint64_t follow_waiting(struct rm_follow *follow, struct rm_record_moment const *moment,
                               struct rm_stream_look const *look, enum rm_follow_extent extent) {
    if (look->head != follow->head) {
        follow->head = look->head;
        follow->moved_ns = moment->now_ns;
    }
    bool const is_still = moment->now_ns - follow->moved_ns > STILL_NS;
    uint64_t const lag = extent == RM_FOLLOW_ALL || is_still ? 0 : follow->lag_turns;
    if (look->head < lag || look->head - lag < follow->next)
        return 0;
    return (look->head - lag - follow->next) / follow->view.period + 1;
}

/** Gives up what the ring has no more; returns how many records. */
static uint64_t follow_skip_lapped(struct rm_follow *follow, rm_turn oldest, unsigned reason) {
    if (oldest == RM_TURN_NONE || oldest <= follow->next)
        return 0;
    uint64_t const records = (oldest - follow->next) / follow->view.period;
    follow_lose(follow, follow->next, records, reason, follow->log->trouble_error);
    follow->next += records * follow->view.period;
    return records;
}

/** The reason why the log has no room. */
static unsigned follow_reason(struct rm_follow const *follow) {
    return follow->log->trouble != 0 ? follow->log->trouble : RM_MARK_DISK_SLOW;
}

static void follow_hand_on(struct rm_follow *follow, struct rm_record const *records, size_t count, size_t good,
                           struct rm_record_moment const *moment) {
    follow->records += good;
    follow->missing += count - good;
    if (follow->reduce != NULL)
        follow->reduce(follow->context, records, count, follow->next, follow->turn_epoch, moment);
    follow->next += count * follow->view.period;
}

/** Takes records without room for them: for the reductions alone. */
static void follow_give_up(struct rm_follow *follow, uint64_t count, struct rm_record_moment const *moment) {
    struct rm_record scratch[SCRATCH_RECORDS];
    size_t const some = count < SCRATCH_RECORDS ? (size_t)count : SCRATCH_RECORDS;
    size_t const good = rm_stream_read_window(&follow->view, follow->next, some, scratch);
    follow_lose(follow, follow->next, good, follow_reason(follow), follow->log->trouble_error);
    follow_hand_on(follow, scratch, some, good, moment);
    follow->records -= good;
}

/** Records at the beginning of the block that were lapped while they were copied. */
static size_t follow_lapped_inside(struct rm_follow const *follow, struct rm_stream_look const *look,
                                   struct rm_record const *records, size_t count) {
    size_t lapped = 0;
    if (rm_stream_still_valid(&follow->view, follow->next, look))
        return 0;
    rm_turn const oldest = rm_stream_oldest(&follow->view, rm_stream_head(&follow->view), 0);
    while (lapped < count && records[lapped].turn == RM_TURN_NONE &&
           follow->next + lapped * follow->view.period < oldest)
        ++lapped;
    return lapped;
}

/** Copies one block; returns its records, 0 where there is no room or the turn counter has restarted meanwhile. */
static size_t follow_copy(struct rm_follow *follow, uint64_t waiting, struct rm_stream_look const *look,
                          struct rm_record_moment const *moment) {
    size_t bytes;
    if (!follow_tell_loss(follow, moment))
        return 0;
    struct rm_record *records = rm_log_room(follow->log, sizeof *records, &bytes, moment->now_ns, moment->tai_ns);
    if (records == NULL)
        return 0;
    size_t count = waiting < bytes / sizeof *records ? (size_t)waiting : bytes / sizeof *records;
    count = count < BLOCK_RECORDS_MAX ? count : BLOCK_RECORDS_MAX;
    size_t const good = rm_stream_read_window(&follow->view, follow->next, count, records);
    struct rm_stream_look after;
    rm_stream_look(&follow->view, &after);
    if (after.turn_epoch != look->turn_epoch)
        return 0;
    size_t const lapped = follow_lapped_inside(follow, look, records, count);
    rm_turn const last = follow->next + (count - 1) * follow->view.period;
    struct rm_block block = {
        .kind = RM_BLOCK_RECORDS,
        .turn_epoch = (uint16_t)look->turn_epoch,
        .object = follow->object,
        .count = (uint32_t)count,
        .stored_bytes = (uint32_t)(count * sizeof *records),
        .plain_bytes = (uint32_t)(count * sizeof *records),
        .first_turn = follow->next,
        .first_tai_ns = rm_record_tai_of(moment, look->turn_epoch, follow->next),
        .last_tai_ns = rm_record_tai_of(moment, look->turn_epoch, last),
    };
    rm_log_append(follow->log, &block);
    follow_lose(follow, follow->next, lapped, RM_MARK_LAPPED, 0);
    follow->missing -= lapped;
    follow_hand_on(follow, records, count, good, moment);
    return count;
}

uint64_t rm_follow_step(struct rm_follow *follow, struct rm_record_moment const *moment, enum rm_follow_extent extent) {
    struct rm_stream_look look;
    uint64_t taken = 0;
    rm_stream_look(&follow->view, &look);
    if (look.head == RM_TURN_NONE || look.first == RM_TURN_NONE)
        return 0;
    follow_begin(follow, moment, &look);
    uint64_t const capacity = follow->view.mask + 1;
    follow_skip_lapped(follow, rm_stream_oldest(&follow->view, look.head, capacity / 64), RM_MARK_LAPPED);
    uint64_t waiting = follow_waiting(follow, moment, &look, extent);
    uint64_t const least = extent == RM_FOLLOW_BLOCKS ? follow->block_records : 1;
    while (waiting >= least) {
        size_t const count = follow_copy(follow, waiting, &look, moment);
        if (count == 0)
            break;
        taken += count;
        waiting -= count;
    }
    while (waiting > capacity / 2) {
        rm_turn const before = follow->next;
        follow_give_up(follow, waiting, moment);
        waiting -= (follow->next - before) / follow->view.period;
    }
    return taken;
}
