// SPDX-License-Identifier: Apache-2.0
#include "traffic/sender.h"

#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"

static double const NS_PER_S = 1e9;

void rm_traffic_job_free(struct rm_traffic_job *job) {
    if (job != NULL)
        job->source->ops->free(job->source);
    free(job);
}

void rm_traffic_sender_init(struct rm_traffic_sender *sender, struct rm_port *port, uint16_t queue,
                            rm_counter *counters, struct rm_histogram *jitter, double tsc_hz) {
    *sender = (struct rm_traffic_sender){
        .port = port,
        .queue = queue,
        .counters = counters,
        .jitter = jitter,
        .tsc_hz = tsc_hz,
        .late_ticks = (uint64_t)(RM_PACE_LATE_NS / NS_PER_S * tsc_hz),
    };
}

static bool sender_is_sending(struct rm_traffic_sender const *sender) {
    return atomic_load_explicit(&sender->sending, memory_order_relaxed);
}

static void sender_set_sending(struct rm_traffic_sender *sender, bool sending) {
    atomic_store_explicit(&sender->sending, sending, memory_order_relaxed);
}

static void sender_drop_rest(struct rm_traffic_sender *sender) {
    if (sender->out.count == 0)
        return;
    rm_counter_add(sender->counters, RM_GENERATOR_REFUSED, sender->out.count);
    rm_port_release(sender->port, sender->queue, &sender->out);
}

void rm_traffic_sender_start(struct rm_traffic_sender *sender, uint64_t tsc) {
    if (sender->job == NULL)
        return;
    struct rm_source *const source = sender->job->source;
    sender_drop_rest(sender);
    source->lends = rm_port_copies(sender->port);
    source->ops->start(source, tsc);
    rm_pace_start(&sender->pace, &sender->job->traffic, sender->tsc_hz, tsc);
    sender->lateness_ticks = -1;
    sender_set_sending(sender, true);
}

void rm_traffic_sender_stop(struct rm_traffic_sender *sender) {
    sender_drop_rest(sender);
    sender_set_sending(sender, false);
}

struct rm_traffic_job *rm_traffic_sender_take(struct rm_traffic_sender *sender, struct rm_traffic_job *job,
                                              uint64_t tsc) {
    struct rm_traffic_job *const before = sender->job;
    sender_drop_rest(sender); // they may lie in the source of before
    sender->job = job;
    if (job == NULL)
        sender_set_sending(sender, false);
    else if (sender_is_sending(sender))
        rm_traffic_sender_start(sender, tsc);
    return before;
}

static uint64_t sender_bytes(struct rm_burst const *burst) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < burst->count; ++i)
        bytes += burst->length[i];
    return bytes;
}

/** Sends, and captures what the link takes. Frames are copied before, for afterwards they are the link's. */
static uint32_t sender_send_captured(struct rm_traffic_sender *sender) {
    struct rm_capture_mark mark[RM_BURST + 1];
    struct rm_burst const *const out = &sender->out;
    mark[0] = rm_capture_ring_mark(sender->capture);
    rm_capture_ring_stage_burst(sender->capture, mark, out->data, out->length, out->count, rm_tsc());
    uint32_t const sent = rm_port_send(sender->port, sender->queue, &sender->out);
    rm_capture_ring_publish(sender->capture, &mark[sent]);
    if (mark[sent].full != mark[0].full)
        rm_counter_add(sender->counters, RM_GENERATOR_CAPTURE_LOST, mark[sent].full - mark[0].full);
    return sent;
}

/** Offers what is there to the link. */
static uint32_t sender_flush(struct rm_traffic_sender *sender) {
    uint64_t const offered_bytes = sender_bytes(&sender->out);
    uint32_t const sent = sender->capture != NULL ? sender_send_captured(sender)
                                                  : rm_port_send(sender->port, sender->queue, &sender->out);
    if (sent != 0) {
        rm_counter_add(sender->counters, RM_GENERATOR_SENT, sent);
        rm_counter_add(sender->counters, RM_GENERATOR_SENT_BYTES, offered_bytes - sender_bytes(&sender->out));
    }
    if (sender->out.count != 0 && sender->job->traffic.late == RM_TRAFFIC_SKIP_LATE)
        sender_drop_rest(sender);
    return sent;
}

/** How many frames of a source with times are later than may be. None is, so soon after the start: before it, a source
 * tells of its first frames, which are due with it. */
static uint64_t sender_too_late(struct rm_traffic_sender const *sender, uint64_t tsc) {
    struct rm_source *const source = sender->job->source;
    uint64_t const late_max_ticks = sender->pace.late_max_ticks;
    return tsc - sender->pace.start_tsc > late_max_ticks ? source->ops->due(source, tsc - late_max_ticks - 1) : 0;
}

/** How many of the `due` frames of a source with times are passed over: as those of a pace, never the newest. */
static uint64_t sender_skip_by_source(struct rm_traffic_sender *sender, uint64_t due, uint64_t tsc) {
    struct rm_source *const source = sender->job->source;
    uint64_t const left = sender->pace.count - sender->pace.next;
    if (due <= 1 || source->ops->skip == NULL)
        return 0;
    uint64_t skipped = sender_too_late(sender, tsc);
    if (skipped >= due || (skipped > 0 && sender->job->traffic.late == RM_TRAFFIC_SKIP_LATE))
        skipped = due - 1;
    skipped = skipped < left ? skipped : left;
    if (skipped != 0) {
        source->ops->skip(source, skipped);
        rm_pace_advance(&sender->pace, skipped);
    }
    return skipped;
}

/** How many frames may be sent now, of a source with times of its own. */
static uint32_t sender_due_by_source(struct rm_traffic_sender *sender, uint64_t tsc, uint64_t *skipped) {
    struct rm_source *const source = sender->job->source;
    uint64_t due = source->ops->due(source, tsc);
    *skipped = sender_skip_by_source(sender, due, tsc);
    due -= *skipped;
    due = due < RM_BURST ? due : RM_BURST;
    uint64_t const left = sender->pace.count - sender->pace.next;
    return (uint32_t)(due < left ? due : left);
}

static uint32_t sender_due(struct rm_traffic_sender *sender, uint64_t tsc) {
    struct rm_source *const source = sender->job->source;
    uint64_t skipped = 0;
    uint32_t due;
    if (source->ops->due != NULL) {
        due = sender_due_by_source(sender, tsc, &skipped);
    } else {
        due = rm_pace_due(&sender->pace, tsc, &skipped);
        if (skipped != 0 && source->ops->skip != NULL)
            source->ops->skip(source, skipped);
    }
    if (skipped != 0)
        rm_counter_add(sender->counters, RM_GENERATOR_SKIPPED, skipped);
    if (due == 0 && rm_pace_over(&sender->pace))
        sender_set_sending(sender, false);
    return due;
}

/** Notes when frames are sent, and when they should have been. */
static void sender_note_time(struct rm_traffic_sender *sender, uint32_t count, uint64_t tsc) {
    struct rm_pace const *const pace = &sender->pace;
    if (pace->ticks_per_frame == 0 || sender->job->source->ops->due != NULL)
        return;
    int64_t const lateness = (int64_t)(tsc - pace->due_tsc);
    if (sender->lateness_ticks >= 0)
        rm_histogram_add(sender->jitter, (uint64_t)llabs(lateness - sender->lateness_ticks), 1);
    sender->lateness_ticks = lateness;
    if ((uint64_t)lateness <= sender->late_ticks)
        return;
    double const late = (double)((uint64_t)lateness - sender->late_ticks) / pace->ticks_per_frame + 1;
    rm_counter_add(sender->counters, RM_GENERATOR_LATE, late < count ? (uint64_t)late : count);
}

/** Buffers that the source had no frames for. */
static void sender_release_tail(struct rm_traffic_sender *sender, uint32_t filled, uint32_t reserved) {
    struct rm_burst tail = {.count = reserved - filled};
    memcpy(tail.data, sender->out.data + filled, tail.count * sizeof tail.data[0]);
    memcpy(tail.handle, sender->out.handle + filled, tail.count * sizeof tail.handle[0]);
    rm_port_release(sender->port, sender->queue, &tail);
    sender_set_sending(sender, false);
}

/** Whether what the link has not taken is later than may be: of a source with times, when the frames after it are. One
 * frame alone may be that of a source that has ended. */
static bool sender_rest_is_too_late(struct rm_traffic_sender *sender, uint64_t tsc) {
    struct rm_traffic_job *const job = sender->job;
    struct rm_pace const *const pace = &sender->pace;
    if (job->traffic.late != RM_TRAFFIC_SEND_LATE)
        return false;
    if (job->source->ops->due != NULL)
        return sender_too_late(sender, tsc) > 1;
    return pace->ticks_per_frame > 0 && tsc - sender->out_due_tsc > pace->late_max_ticks;
}

uint32_t rm_traffic_sender_turn(struct rm_traffic_sender *sender, uint64_t tsc) {
    if (sender->out.count != 0 && sender_rest_is_too_late(sender, tsc))
        sender_drop_rest(sender);
    if (sender->out.count != 0)
        return sender_flush(sender);
    if (!sender_is_sending(sender))
        return 0;
    uint32_t const due = sender_due(sender, tsc);
    if (due == 0)
        return 0;
    uint32_t const reserved = rm_port_reserve(sender->port, sender->queue, &sender->out, due);
    if (reserved == 0)
        return 0;
    struct rm_source *const source = sender->job->source;
    uint32_t const filled = source->ops->fill(source, &sender->out, tsc);
    sender->out.count = filled;
    if (filled < reserved)
        sender_release_tail(sender, filled, reserved);
    if (filled == 0)
        return 0;
    sender_note_time(sender, filled, tsc);
    sender->out_due_tsc = sender->pace.due_tsc;
    rm_pace_advance(&sender->pace, filled);
    return sender_flush(sender);
}
