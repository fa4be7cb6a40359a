// SPDX-License-Identifier: Apache-2.0
/* What is here of the other of two servers, as `ringmaster-standby` writes it; and the file of the highest term. */
#include "engine/control_thread_state.h"

#include <stdio.h>
#include <unistd.h>

#include "engine/term_file.h"
#include "fabric/segment_lock.h"

/** The owner of that segment. */
static char const STANDBY[] = "standby";

static bool post_peer(struct rm_control_thread *control_thread, struct rm_transmit_peer const *peer) {
    struct rm_peer_mailbox *const box = control_thread->setup.peer;
    if (!rm_mailbox_is_free(&box->mailbox))
        return false;
    box->peer = *peer;
    rm_mailbox_post(&box->mailbox);
    return true;
}

/** Maps the segment and tells the role of it. Orders are enough: the other server's setpoints may not be there yet. */
static void standby_welcome(struct rm_control_thread *control_thread) {
    struct rm_control_thread_client *const client = &control_thread->standby;
    uint32_t const supplies = control_thread->setup.config->supply_count;
    struct rm_mapped_segment mapped;
    if (rm_segment_map_readonly(control_thread->workspace, STANDBY, &mapped, NULL) != RM_OK)
        return;
    bool const ours = mapped.uid == geteuid() && rm_control_thread_state_of(mapped.header) == RM_SEGMENT_LIVE;
    struct rm_transmit_peer const peer = {
        .orders = ours ? rm_control_thread_object(&mapped, RM_OBJECT_STANDBY_ORDERS, "standby/orders",
                                                  sizeof(struct rm_standby_orders))
                       : NULL,
        .sent = rm_control_thread_setpoints(&mapped, "peer/setpoints/sent", supplies),
        .targets = rm_control_thread_setpoints(&mapped, "peer/setpoints/targets", supplies),
    };
    if (peer.orders == NULL || !post_peer(control_thread, &peer)) {
        rm_segment_unmap(&mapped);
        return;
    }
    client->mapped = mapped;
    client->instance = rm_control_thread_instance(mapped.header);
    client->here = true;
}

static void standby_take_leave(struct rm_control_thread *control_thread) {
    struct rm_control_thread_client *const client = &control_thread->standby;
    if (client->gone.header != NULL || !post_peer(control_thread, &(struct rm_transmit_peer){.orders = NULL}))
        return;
    client->gone = client->mapped;
    client->mapped = (struct rm_mapped_segment){0};
    client->here = false;
}

static void look_at_peer(struct rm_control_thread *control_thread) {
    struct rm_control_thread_client *const client = &control_thread->standby;
    if (client->gone.header != NULL && rm_mailbox_is_free(&control_thread->setup.peer->mailbox))
        rm_segment_unmap(&client->gone);
    bool const alive = rm_segment_lock_tells(control_thread->workspace, STANDBY);
    if (!client->here) {
        if (alive)
            standby_welcome(control_thread);
        return;
    }
    struct rm_segment_header const *const header = client->mapped.header;
    bool const same =
        rm_control_thread_instance(header) == client->instance && rm_control_thread_state_of(header) == RM_SEGMENT_LIVE;
    if (!alive || !same)
        standby_take_leave(control_thread);
}

/** A term is tried once: a disk that stays full is not written to at every look. */
static void save_term(struct rm_control_thread *control_thread) {
    struct rm_control_thread_setup const *const setup = &control_thread->setup;
    char const *const path = setup->config->setpoints.terms_path;
    struct rm_error error = {.text = ""};
    if (path[0] == '\0' || setup->highest_term == NULL)
        return;
    uint32_t const term = atomic_load_explicit(setup->highest_term, memory_order_relaxed);
    if (term <= control_thread->saved_term || term == control_thread->unsaved_term)
        return;
    if (rm_term_file_write(path, term, &error) == RM_OK) {
        control_thread->saved_term = term;
        return;
    }
    control_thread->unsaved_term = term;
    rm_counter_add(setup->standby_counters, RM_STANDBY_TERM_UNSAVED, 1);
    fprintf(stderr, "ringmaster-server: %s\n", error.text);
}

void rm_control_thread_look_at_standby(struct rm_control_thread *control_thread) {
    if (control_thread->setup.peer != NULL)
        look_at_peer(control_thread);
    save_term(control_thread);
}

void rm_control_thread_free_standby(struct rm_control_thread *control_thread) {
    rm_segment_unmap(&control_thread->standby.mapped);
    rm_segment_unmap(&control_thread->standby.gone);
}

bool rm_control_thread_stands_by(struct rm_control_thread const *control_thread, char *text, size_t bytes) {
    struct rm_standby_state const *const state = control_thread->setup.standby_state;
    struct rm_config_standby const *const standby = &control_thread->setup.config->standby;
    if (state == NULL || atomic_load_explicit(&state->role, memory_order_relaxed) == RM_STANDBY_ACTIVE)
        return false;
    snprintf(text, bytes, "server %s does not send setpoints: put it to server %s, if that is the active one",
             standby->server[standby->own].name, standby->server[1 - standby->own].name);
    return true;
}
