// SPDX-License-Identifier: Apache-2.0
#include "receiver_core.h"

#include <string.h>

#include "base/fail.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "link_endpoint.h"

static double const LOOK_S = 250e-6; /* how often the windows are looked at */
static double const LINGER_S = 2.0;  /* a sender that runs on a little longer shall not find the link gone */

static bool all_sleep(struct rm_receiver_core const *core) {
    for (uint32_t i = 0; i < core->link_count; ++i)
        if (rm_link_spins(core->link[i]))
            return false;
    return true;
}

/** The time that was slept is neither a gap nor work. */
static void receiver_core_note_waking(struct rm_receiver_core *core) { core->polling.last = rm_tsc(); }

static void begin_count(struct rm_receiver_core *core, uint64_t now) {
    rm_poll_times_begin(&core->polling, now, core->tsc_hz);
    core->cpu_begin_s = rm_thread_seconds();
}

static void end_count(struct rm_receiver_core *core, uint64_t now) {
    core->counted = true;
    core->cpu_s = rm_thread_seconds() - core->cpu_begin_s;
    core->seconds = (double)(now - core->polling.begin) / core->tsc_hz;
}

/** Looks at all windows; true while one is not closed. */
static bool receiver_core_look(struct rm_receiver_core *core, uint64_t now) {
    bool const stop = rm_stop_requested(core->stop);
    bool open = false, begun = false, ended = true;
    for (uint32_t i = 0; i < core->link_count; ++i) {
        open |= rm_receiver_link_look(&core->received[i], stop, now);
        begun |= core->received[i].window.state >= RM_WINDOW_COUNTING;
        ended &= core->received[i].window.state >= RM_WINDOW_DRAINING;
    }
    if (ended && !core->counted)
        end_count(core, now);
    if (begun && !core->counting) {
        core->counting = true;
        if (!core->counted)
            begin_count(core, now);
    }
    return open;
}

/** True while a sender goes on, though all windows are closed. */
static bool receiver_core_linger(struct rm_receiver_core *core, uint64_t now) {
    uint64_t const quiet_ticks = (uint64_t)(RM_WINDOW_QUIET_S * core->tsc_hz);
    if (core->closed_tsc == 0)
        core->closed_tsc = now;
    bool going_on = false;
    for (uint32_t i = 0; i < core->link_count; ++i) {
        uint64_t const last = core->received[i].window.last_tsc;
        going_on |= !core->received[i].ended && (last >= now || now - last < quiet_ticks);
    }
    return going_on && !rm_stop_requested(core->stop) && now - core->closed_tsc < (uint64_t)(LINGER_S * core->tsc_hz);
}

/** Asks every link once; returns how many datagrams there were. */
static uint32_t receiver_core_receive(struct rm_receiver_core *core, uint64_t wait_ns) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < core->link_count; ++i) {
        count += rm_link_receive(core->link[i], &core->burst, wait_ns);
        if (wait_ns != 0)
            receiver_core_note_waking(core);
        rm_receiver_link_take(&core->received[i], &core->burst);
    }
    return count;
}

/** One link's sleep is the receiving call's own, as in most programs. */
static void poll_links(struct rm_receiver_core *core) {
    bool const alone = core->link_count == 1;
    uint64_t const wait_ns = core->sleeps && alone ? RM_SLEEP : 0;
    uint64_t const look_ticks = (uint64_t)(LOOK_S * core->tsc_hz);
    uint64_t now = rm_tsc(), next_look = now;
    begin_count(core, now);
    for (bool open = true; open;) {
        uint32_t const count = receiver_core_receive(core, wait_ns);
        if (now >= next_look) {
            open = receiver_core_look(core, now) || receiver_core_linger(core, now);
            next_look = now + look_ticks;
        }
        now = rm_tsc();
        if (!core->counted)
            rm_poll_times_loop(&core->polling, now, count != 0);
        if (count == 0 && core->sleeps && !alone) {
            rm_links_wait(core->link, core->link_count, RM_SLEEP);
            receiver_core_note_waking(core);
        }
    }
}

static void *receiver_core_run(void *argument) {
    struct rm_receiver_core *const core = argument;
    core->error.code = rm_pin(core->core, &core->error);
    if (core->error.code == RM_OK)
        core->error.code = rm_net_thread_join(&core->error);
    bool const good = core->error.code == RM_OK;
    sem_post(&core->ready);
    if (!good)
        return NULL;
    poll_links(core);
    rm_net_thread_leave();
    return NULL;
}

enum rm_code rm_receiver_core_start(struct rm_receiver_core *core, struct rm_error *error) {
    for (uint32_t i = 0; i < core->link_count; ++i)
        core->link[i] = core->received[i].link;
    core->sleeps = all_sleep(core);
    sem_init(&core->ready, 0, 0);
    int const why = pthread_create(&core->thread, NULL, receiver_core_run, core);
    if (why != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start a thread: %s", strerror(why));
    while (sem_wait(&core->ready) != 0)
        continue;
    if (core->error.code == RM_OK)
        return RM_OK;
    *error = core->error;
    pthread_join(core->thread, NULL);
    return error->code;
}

void rm_receiver_core_join(struct rm_receiver_core *core) { pthread_join(core->thread, NULL); }
