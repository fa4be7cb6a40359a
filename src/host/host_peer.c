// SPDX-License-Identifier: Apache-2.0
#include "host/host_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ringmaster/counters.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/workspace_parts.h"
#include "host/host_control_thread.h"
#include "host/host_state.h"
#include "host/host_state_bytes.h"
#include "host/host_worker.h"

static uint64_t const COPY_NS = 1000000000;   /**< a step may take so long until its state is copied */
static uint64_t const PEER_NS = 2000000000;   /**< a peer that is READY and does not make a step: the reply goes */
static uint64_t const BEHIND_NS = 5000000000; /**< what follows for so long without being in step is copied anew */
static long const NAP_NS = 100000;

static void peer_nap(void) { nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL); }

/** Once for each reason. */
static void peer_say(struct rm_host_peer *peer, char const *text) {
    if (strcmp(peer->said, text) == 0)
        return;
    snprintf(peer->said, sizeof peer->said, "%s", text);
    rm_host_say(peer->host, "%s", text);
}

/* ── the other owner's objects ── */

static void peer_detach(struct rm_host_peer *peer) {
    rm_workspace_detach(peer->workspace);
    peer->workspace = NULL;
    peer->state = NULL;
    peer->orders = NULL;
    peer->followed = NULL;
}

static enum rm_code peer_find_stream(struct rm_host_peer const *peer, char const *what, uint32_t number, bool counts,
                                     struct rm_stream_view *view, struct rm_error *error) {
    struct rm_host_setup const *const setup = peer->host->setup;
    char name[RM_NAME_BYTES], digits[16] = "";
    if (counts)
        snprintf(digits, sizeof digits, "%u", number);
    snprintf(name, sizeof name, "peer/%s/%s%s", setup->name, what, digits);
    enum rm_code const code = rm_workspace_stream(peer->workspace, name, view, error);
    if (code == RM_OK && view->period != setup->period_turns)
        return rm_fail(error, RM_E_CONFIG, "%s has a record every %llu turns, expected %llu", name,
                       (unsigned long long)view->period, (unsigned long long)setup->period_turns);
    return code;
}

static enum rm_code peer_find_streams(struct rm_host_peer const *peer, struct rm_error *error) {
    struct rm_follow_streams *streams = &peer->host->standby->streams;
    struct rm_host_decisions const *decisions = &peer->host->decisions;
    enum rm_code code = peer_find_stream(peer, "decision", 0, false, &streams->decision, error);
    if (code == RM_OK)
        code = peer_find_stream(peer, "settings_adopted", 0, false, &streams->adopted, error);
    for (uint32_t i = 0; code == RM_OK && i < decisions->masks; ++i)
        code = peer_find_stream(peer, "missing", i, true, &streams->mask[i], error);
    for (uint32_t i = 0; code == RM_OK && i < decisions->groups; ++i)
        code = peer_find_stream(peer, "sent", i, true, &streams->sent[i], error);
    for (uint32_t i = 0; code == RM_OK && i < decisions->ends; ++i)
        code = peer_find_stream(peer, "unfinished", i, true, &streams->end[i], error);
    return code;
}

static void const *peer_find(struct rm_host_peer const *peer, enum rm_object_kind kind, char const *name,
                             struct rm_object const **object, struct rm_error *error) {
    void const *memory;
    return rm_workspace_find(peer->workspace, kind, name, object, &memory, error) == RM_OK ? memory : NULL;
}

/** The state that comes must have room here, and lie within its object. */
static enum rm_code peer_find_state(struct rm_host_peer *peer, struct rm_error *error) {
    struct rm_object const *object;
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "peer/state/%s", peer->host->setup->name);
    peer->state = peer_find(peer, RM_OBJECT_STATE, name, &object, error);
    if (peer->state == NULL)
        return RM_E_NOT_FOUND;
    peer->room = peer->state->capacity;
    if (object->bytes < sizeof *peer->state || peer->room > object->bytes - sizeof *peer->state)
        return rm_fail(error, RM_E_VERSION, "%s is larger than its object", name);
    uint8_t *const bytes = realloc(peer->bytes, peer->room + 1);
    if (bytes == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %zu bytes of state", peer->room);
    peer->bytes = bytes;
    return RM_OK;
}

static enum rm_code peer_attach(struct rm_host_peer *peer, struct rm_error *error) {
    struct rm_object const *object;
    char name[RM_NAME_BYTES];
    enum rm_code code = rm_workspace_attach(peer->host->setup->workspace, 0, &peer->workspace, error);
    if (code != RM_OK)
        return code;
    peer->orders = peer_find(peer, RM_OBJECT_STANDBY_ORDERS, "standby/orders", &object, NULL);
    snprintf(name, sizeof name, "peer/followed/%s", peer->host->setup->name);
    peer->followed = peer_find(peer, RM_OBJECT_PARAMETER, name, &object, NULL);
    code = peer_find_streams(peer, error);
    if (code == RM_OK)
        code = peer_find_state(peer, error);
    if (code == RM_E_NOT_FOUND) // as at every start: that process makes its objects when it has seen this application's
        code = rm_fail(error, code, "nothing of server %s has come yet: %s", peer->host->setup->peer,
                       peer->orders == NULL ? "ringmaster-standby does not run beside this server"
                                            : "ringmaster-standby has not seen this application yet");
    if (code != RM_OK)
        peer_detach(peer);
    return code;
}

/** False where the other owner has begun anew with other objects, or what is mapped was cut. */
static bool peer_is_mapped(struct rm_host_peer const *peer) {
    struct rm_mapped_segment const *const holder = rm_workspace_holder(peer->workspace, peer->state);
    return rm_workspace_alive(peer->workspace) && rm_workspace_cut(peer->workspace) == NULL && holder != NULL &&
           atomic_load_explicit(&holder->header->state, memory_order_acquire) != RM_SEGMENT_REPLACED;
}

/* ── a copy is taken over ── */

static enum rm_code peer_restore(struct rm_host_peer *peer, size_t bytes, struct rm_error *error) {
    struct rm_host *host = peer->host;
    struct rm_host_standby *standby = host->standby;
    struct rm_host_state_place place;
    enum rm_code code = rm_host_state_check(host->program, peer->bytes, bytes, &place, error);
    if (code != RM_OK)
        return code;
    standby->led_grant = 0;
    rm_host_inputs_start(&host->inputs, host->server->input);
    rm_host_worker_pause(host->worker);
    code =
        rm_host_state_restore(host->program, &host->decisions, host->inputs.record, peer->bytes, bytes, &place, error);
    standby->worked = host->worker != NULL ? rm_host_worker_begun(host->worker) : 0;
    rm_host_worker_resume(host->worker);
    if (code != RM_OK)
        return code;
    standby->streams.input = host->server->input;
    standby->follow.obey.runs = &host->server->runs;
    rm_host_follow_begin(&standby->follow, place.turn, place.generation);
    standby->shown_generation = place.generation - 1; /* all of it is shown behind the first step */
    standby->begins = standby->is_same = true;
    standby->was_in_step = false;
    return RM_OK;
}

/** A copy that was not looked at yet. */
static bool peer_copy(struct rm_host_peer *peer, size_t *bytes) {
    struct rm_state_reading reading;
    rm_follow_streams_begin(&peer->host->standby->streams);
    if (!rm_state_copy(peer->state, peer->bytes, peer->room, &reading) || reading.bytes == 0 ||
        (reading.turn == peer->tried_turn && reading.steps == peer->tried_steps))
        return false;
    peer->tried_turn = reading.turn;
    peer->tried_steps = reading.steps;
    *bytes = reading.bytes;
    return true;
}

/** The host is parked: it follows from the next copy on. */
static void peer_take_copy(struct rm_host_peer *peer) {
    struct rm_host_standby *standby = peer->host->standby;
    struct rm_error error;
    size_t bytes;
    int parked = RM_HOST_PARKED;
    if (rm_host_state_can_be_saved(peer->host->program, &error) != RM_OK) {
        peer_say(peer, error.text);
        return;
    }
    if (!peer_copy(peer, &bytes) ||
        !atomic_compare_exchange_strong_explicit(&standby->phase, &parked, RM_HOST_RESTORES, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    enum rm_code const code = peer_restore(peer, bytes, &error);
    if (code != RM_OK) {
        rm_host_standby_move(standby, RM_HOST_PARKED);
        peer_say(peer, error.text);
        return;
    }
    rm_counter_add(standby->counters, RM_FOLLOW_RESTORED, 1);
    rm_host_say(peer->host, "it follows server %s from turn %llu on", peer->host->setup->peer,
                (unsigned long long)peer->tried_turn);
    peer->said[0] = '\0';
    peer->said_phase = RM_HOST_FOLLOWS;
    /* What was to end was what it followed before. */
    atomic_store_explicit(&standby->is_to_park, false, memory_order_relaxed);
    rm_host_standby_move(standby, RM_HOST_FOLLOWS);
}

/* ── looking about ── */

static void peer_tell_phase(struct rm_host_peer *peer, enum rm_host_phase phase) {
    struct rm_host_standby const *standby = peer->host->standby;
    int const before = peer->said_phase;
    peer->said_phase = (int)phase;
    if ((int)phase == before || phase == RM_HOST_FOLLOWS || phase == RM_HOST_RESTORES)
        return;
    if (phase == RM_HOST_LEADS)
        rm_host_say(peer->host, "it leads: server %s is active", peer->host->setup->server);
    else if (standby->told.text[0] != '\0')
        rm_host_say(peer->host, "it does not follow server %s any more (turn %llu): %s", peer->host->setup->peer,
                    (unsigned long long)standby->told.turn, standby->told.text);
}

/** A follower whose records do not come, or that does not catch up, is to park: a copy is nearer. */
static void peer_watch(struct rm_host_peer *peer) {
    struct rm_host_standby *standby = peer->host->standby;
    uint64_t const now_ns = rm_monotonic_ns();
    if (atomic_load_explicit(&standby->is_in_step, memory_order_acquire))
        peer->behind_ns = 0;
    else if (peer->behind_ns == 0)
        peer->behind_ns = now_ns;
    bool const is_behind = peer->behind_ns != 0 && now_ns - peer->behind_ns > BEHIND_NS;
    if (!is_behind && peer_is_mapped(peer))
        return;
    peer->behind_ns = 0;
    atomic_store_explicit(&standby->is_to_park, true, memory_order_release);
}

void rm_host_peer_look(struct rm_host_peer *peer, struct rm_host_server const *server) {
    struct rm_host_standby *standby = peer->host->standby;
    struct rm_error error;
    if (standby == NULL)
        return;
    enum rm_host_phase const phase = rm_host_standby_phase(standby);
    peer_tell_phase(peer, phase);
    if (phase == RM_HOST_FOLLOWS) {
        peer_watch(peer);
        return;
    }
    peer->behind_ns = 0;
    if (peer->workspace != NULL && !peer_is_mapped(peer))
        peer_detach(peer);
    if (server == NULL || atomic_load_explicit(&peer->host->taken, memory_order_acquire) != server)
        return;
    enum rm_code const code = peer->workspace == NULL ? peer_attach(peer, &error) : RM_OK;
    if (code != RM_OK) {
        /* What is not there yet is waited for: `ringmaster-standby` makes it when it has found this application. */
        if (phase == RM_HOST_PARKED && code != RM_E_NOT_FOUND)
            peer_say(peer, error.text);
        return;
    }
    if (phase == RM_HOST_PARKED)
        peer_take_copy(peer);
}

void rm_host_peer_close(struct rm_host_peer *peer) {
    peer_detach(peer);
    free(peer->bytes);
}

/* ── requests ── */

/** The stepping thread writes the state behind its next step. */
static void peer_ask_for_state(struct rm_host_peer *peer, char reason[RM_REASON_BYTES]) {
    struct rm_host_standby *standby = peer->host->standby;
    struct rm_error error;
    if (rm_host_state_can_be_saved(peer->host->program, &error) != RM_OK) {
        snprintf(reason, RM_REASON_BYTES, "%.*s", RM_REASON_BYTES - 1, error.text);
        return;
    }
    uint64_t const end_ns = rm_monotonic_ns() + COPY_NS;
    atomic_store_explicit(&standby->wants_state, true, memory_order_release);
    while (atomic_load_explicit(&standby->wants_state, memory_order_acquire)) {
        if (rm_monotonic_ns() > end_ns) {
            snprintf(reason, RM_REASON_BYTES, "it makes no steps, so it has no state to copy");
            return;
        }
        peer_nap();
    }
}

bool rm_host_peer_takes(struct rm_host_peer *peer, struct rm_parameter const *parameter, char reason[RM_REASON_BYTES]) {
    struct rm_host_standby *standby = peer->host->standby;
    struct rm_host_setup const *const setup = peer->host->setup;
    reason[0] = '\0';
    if (standby == NULL)
        return false;
    bool const leads = rm_host_standby_phase(standby) == RM_HOST_LEADS;
    if (!leads)
        snprintf(reason, RM_REASON_BYTES, "server %s is standby: put it to the active server, %s", setup->server,
                 setup->peer);
    else if (parameter == standby->state_wanted)
        peer_ask_for_state(peer, reason);
    return !leads || parameter == standby->state_wanted;
}

/** Whether the peer is READY, as the link tells. */
static bool peer_is_ready(struct rm_host_peer const *peer) {
    struct rm_standby_orders_reading orders;
    if (peer->orders == NULL || peer->followed == NULL)
        return false;
    while (!rm_standby_orders_look(peer->orders, &orders)) {
        if (!peer_is_mapped(peer))
            return false;
        peer_nap();
    }
    return orders.peer_role == RM_STANDBY_READY + 1;
}

void rm_host_peer_wait(struct rm_host_peer *peer) {
    struct rm_host_standby *standby = peer->host->standby;
    if (standby == NULL || peer->workspace == NULL)
        return;
    /* The step that adopted it is this one or the next. */
    uint64_t const turn = atomic_load_explicit(&standby->stepped, memory_order_acquire);
    uint64_t const end_ns = rm_monotonic_ns() + PEER_NS;
    while (peer_is_ready(peer) && rm_monotonic_ns() < end_ns) {
        struct rm_parameter_reading when;
        uint64_t followed = 0;
        if (rm_parameter_look(peer->followed, &followed, sizeof followed, &when) == sizeof followed &&
            followed != RM_TURN_NONE && (turn == RM_TURN_NONE || followed > turn))
            return;
        peer_nap();
    }
}
