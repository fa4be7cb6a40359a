// SPDX-License-Identifier: Apache-2.0
#include "trip.h"

#include "base/fail.h"
#include "base/timebase.h"
#include "probe.h"

/** How long to look for the reflector, and how often to ask. */
static double const FIRST_ANSWER_S = 5.0, ASK_S = 10e-3;
/** A link that takes no probe for so long has ended; one that brings nothing for so long is looked at. */
static double const FULL_S = 1.0, SILENT_S = 1.0;
/** After a request to stop, the last answers are waited for no longer than this. */
static double const STOPPED_S = 1.0;
/** Between the first answer and the first probe: what was asked in vain has come back by then. */
static double const SETTLE_S = 20e-3;

static uint64_t trip_ticks_of(struct rm_trip const *trip, double seconds) { return (uint64_t)(seconds * trip->tsc_hz); }

/** Sends one probe if the link takes it now. */
static bool send_one(struct rm_trip *trip, uint64_t sequence, uint64_t due, uint64_t *sent) {
    struct rm_link_burst out;
    if (rm_link_reserve(trip->link, &out, 1) == 0)
        return false;
    struct rm_probe const probe = {.flow = trip->flow, .sequence = sequence, .stamp = due};
    rm_probe_write(out.payload[0], &probe);
    out.length[0] = trip->payload_bytes;
    *sent = rm_tsc();
    bool const taken = rm_link_send(trip->link, &out) == 1;
    rm_link_release(trip->link, &out);
    return taken;
}

static void trip_take(struct rm_trip *trip, struct rm_link_burst const *in, uint64_t now) {
    for (uint32_t i = 0; i < in->count; ++i) {
        struct rm_probe const probe = rm_probe_read(in->payload[i]);
        bool const ours = probe.flow == trip->flow;
        trip->found |= ours;
        if (!ours || (probe.sequence != RM_PROBE_HELLO && !rm_probes_answered(&trip->probes, probe.sequence, now)))
            ++trip->foreign;
    }
}

/** Receives until the TSC is at `until` or something has come; returns whether it has. */
static bool trip_receive(struct rm_trip *trip, uint64_t until) {
    uint64_t const wait_ns = rm_link_spins(trip->link) ? 0 : rm_poll_times_may_sleep_ns(until, rm_tsc(), trip->tsc_hz);
    struct rm_link_burst in;
    bool const came = rm_link_receive(trip->link, &in, wait_ns) != 0;
    uint64_t const now = rm_tsc();
    if (came)
        trip->look_at = now + trip_ticks_of(trip, SILENT_S);
    trip_take(trip, &in, now);
    rm_link_release(trip->link, &in);
    if (wait_ns != 0)
        rm_poll_times_slept(&trip->polling, now);
    else
        rm_poll_times_loop(&trip->polling, now, came);
    return came;
}

enum rm_code rm_trip_find(struct rm_trip *trip, struct rm_error *error) {
    uint64_t const begin = rm_tsc(), give_up = begin + trip_ticks_of(trip, FIRST_ANSWER_S);
    uint64_t ask = begin, now = begin, sent;
    rm_poll_times_begin(&trip->polling, now, trip->tsc_hz);
    for (; !trip->found && now < give_up && !rm_stop_requested(&trip->stop); now = rm_tsc()) {
        if (now >= ask) {
            (void)send_one(trip, RM_PROBE_HELLO, now, &sent);
            ask = now + trip_ticks_of(trip, ASK_S);
        }
        (void)trip_receive(trip, ask);
    }
    if (trip->found)
        return RM_OK;
    if (rm_stop_requested(&trip->stop))
        return rm_fail(error, RM_E_SYSTEM, "interrupted before the first answer came");
    struct rm_error why = {.text = "nothing came back"};
    (void)rm_link_check(trip->link, &why);
    return rm_fail(error, RM_E_ABSENT, "no answer from %s within %.0f s: is the reflector running? (%s)",
                   rm_link_text(trip->link), FIRST_ANSWER_S, why.text);
}

/** Since when the link has taken nothing: since it took the last one, or, if none was due in between, since this one
 * is. A sender that is far behind its schedule is not thereby one whose link is full. */
static uint64_t idle_since(struct rm_probes const *probes, uint64_t due) {
    uint64_t const last = probes->next == 0 ? 0 : probes->times[probes->next - 1].sent;
    return last > due ? last : due;
}

/** Sends the next probe if it is due. An error when the link has taken none for a while. */
static enum rm_code keep_schedule(struct rm_trip *trip, uint64_t now, struct rm_error *error) {
    struct rm_probes *const probes = &trip->probes;
    uint64_t const due = rm_probes_due(probes, probes->next);
    uint64_t sent;
    if (now < due)
        return RM_OK;
    if (send_one(trip, probes->next, due, &sent)) {
        rm_probes_sent(probes, sent);
        return RM_OK;
    }
    if (now - idle_since(probes, due) < trip_ticks_of(trip, FULL_S))
        return RM_OK;
    struct rm_error why = {.text = "it is full, and its other end takes nothing"};
    (void)rm_link_check(trip->link, &why);
    return rm_fail(error, RM_E_SYSTEM, "link %s has taken no probe for %.0f s, after %llu of %llu: %s",
                   rm_link_text(trip->link), FULL_S, (unsigned long long)probes->next,
                   (unsigned long long)probes->count, why.text);
}

/** A silent link may have lost its interface, which is an error; a peer that is silent is lost probes. */
static enum rm_code trip_check_link(struct rm_trip *trip, uint64_t now, struct rm_error *error) {
    if (now < trip->look_at)
        return RM_OK;
    trip->look_at = now + trip_ticks_of(trip, SILENT_S);
    enum rm_code const code = rm_link_check(trip->link, error);
    return code == RM_E_ABSENT ? RM_OK : code;
}

enum rm_code rm_trip_fly(struct rm_trip *trip, struct rm_error *error) {
    struct rm_probes *const probes = &trip->probes;
    enum rm_code code = RM_OK;
    probes->begin = rm_tsc() + trip_ticks_of(trip, SETTLE_S);
    rm_poll_times_begin(&trip->polling, rm_tsc(), trip->tsc_hz);
    while (probes->next < probes->count && code == RM_OK && !rm_stop_requested(&trip->stop)) {
        uint64_t const now = rm_tsc();
        code = keep_schedule(trip, now, error);
        if (code == RM_OK)
            code = trip_check_link(trip, now, error);
        if (probes->next < probes->count)
            (void)trip_receive(trip, rm_probes_due(probes, probes->next));
    }
    return code;
}

void rm_trip_wait(struct rm_trip *trip, double longest_s) {
    bool const stopped = rm_stop_requested(&trip->stop);
    double const timeout_s = stopped && longest_s > STOPPED_S ? STOPPED_S : longest_s;
    uint64_t const end = rm_tsc() + trip_ticks_of(trip, timeout_s);
    while (trip->probes.answered < trip->probes.next && rm_tsc() < end && rm_stop_requested(&trip->stop) == stopped)
        (void)trip_receive(trip, end);
}
