// SPDX-License-Identifier: Apache-2.0
#include "host/host_control_thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/inbox_thread.h"
#include "host/host_peer.h"
#include "host/host_permissions.h"
#include "host/host_state.h"

static uint64_t const GATHER_NS = 300000; /**< requests of one requester that come so close together are one */
/** A step that takes longer is not waited for. A busy host keeps its core from it for seconds; requesters wait longer. */
static uint64_t const ANSWER_NS = 4000000000;

struct rm_host_control_thread {
    struct rm_host *host;
    struct rm_inbox_thread beside;
    struct rm_host_server *server;               /**< posted last */
    struct rm_host_server *leaving;              /**< the one before it, until the stepping thread lets it go */
    struct rm_error said;                        /**< why there is no server, as it was said last */
    double withdrawn;                            /**< enum rm_withdrawal, as it was said last */
    struct rm_request request[RM_REQUEST_SLOTS]; /**< one proposal */
    bool wanted[RM_REQUEST_SLOTS];               /**< not refused by its limits */
    uint32_t request_count;
    struct rm_request next; /**< taken already, of another requester */
    bool has_next;
    struct rm_host_peer peer; /**< of two servers */
};

void rm_host_say(struct rm_host const *host, char const *format, ...) {
    if (host->setup->say == NULL)
        return;
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host->setup->say(host->setup->context, text);
}

/* ── the server ── */

static void host_control_thread_post(struct rm_host_control_thread *control_thread, struct rm_host_server *server) {
    control_thread->leaving = control_thread->server;
    control_thread->server = server;
    atomic_store_explicit(&control_thread->host->posted, server, memory_order_release);
}

/** True when nothing of an earlier server is in use. Acquire: pairs with the release in rm_host_duty. */
static bool host_control_thread_let_go(struct rm_host_control_thread *control_thread) {
    if (control_thread->leaving == NULL)
        return true;
    if (atomic_load_explicit(&control_thread->host->taken, memory_order_acquire) != control_thread->server)
        return false;
    rm_host_server_detach(control_thread->leaving);
    control_thread->leaving = NULL;
    return true;
}

static void look_for_server(struct rm_host_control_thread *control_thread) {
    struct rm_host_setup const *setup = control_thread->host->setup;
    struct rm_host_server *server;
    struct rm_error error;
    if (rm_host_server_attach(control_thread->host->program, &server, &error) == RM_OK) {
        rm_host_say(control_thread->host, "the server of workspace \"%s\" is there", setup->workspace);
        control_thread->said.text[0] = '\0';
        host_control_thread_post(control_thread, server);
        return;
    }
    if (strcmp(error.text, control_thread->said.text) == 0)
        return;
    control_thread->said = error;
    rm_host_say(control_thread->host, "waiting for the server: %s", error.text);
}

static void look_at_server(struct rm_host_control_thread *control_thread) {
    if (!host_control_thread_let_go(control_thread))
        return;
    if (control_thread->server == NULL) {
        look_for_server(control_thread);
        return;
    }
    bool const lives = rm_host_server_lives(control_thread->server);
    if (lives && rm_host_server_has_inputs(control_thread->server))
        return;
    rm_host_say(control_thread->host,
                lives ? "an application whose stream is an input has begun anew with other streams: no "
                        "steps until they are found"
                      : "the server has gone: no steps until it is back");
    host_control_thread_post(control_thread, NULL);
}

/** The people that run it must hear that it acts no more. */
static void tell_withdrawal(struct rm_host_control_thread *control_thread) {
    struct rm_parameter const *withdrawn = control_thread->host->settings.withdrawn;
    double const now = withdrawn != NULL ? rm_parameter_read_f64(withdrawn) : RM_WITHDRAWN_NOT;
    if (now == control_thread->withdrawn)
        return;
    control_thread->withdrawn = now;
    if (now != RM_WITHDRAWN_NOT)
        rm_host_say(control_thread->host, "it may not act any more, because %s: look, then give the permission again",
                    rm_withdrawal_words((enum rm_withdrawal)now));
}

/* ── requests ── */

static bool same_requester(struct rm_request const *a, struct rm_request const *b) {
    return a->requester_generation == b->requester_generation && strcmp(a->requester, b->requester) == 0;
}

/** The next request, which may be one that was taken for another proposal. */
static bool host_control_thread_take_request(struct rm_host_control_thread *control_thread,
                                             struct rm_request *request) {
    if (!control_thread->has_next)
        return rm_inbox_take(control_thread->beside.inbox, request);
    *request = control_thread->next;
    control_thread->has_next = false;
    return true;
}

/** Takes what one requester asks for together; false when there are no requests. */
static bool host_control_thread_gather(struct rm_host_control_thread *control_thread) {
    control_thread->request_count = 0;
    if (!host_control_thread_take_request(control_thread, &control_thread->request[0]))
        return false;
    control_thread->request_count = 1;
    uint64_t const end = rm_monotonic_ns() + GATHER_NS;
    while (control_thread->request_count < RM_REQUEST_SLOTS) {
        struct rm_request *request = &control_thread->request[control_thread->request_count];
        /* The time first: what came before the end is found then, although this thread lost its core in between. */
        bool const over = rm_monotonic_ns() >= end;
        if (!rm_inbox_take(control_thread->beside.inbox, request)) {
            if (over)
                break;
            rm_pause();
            continue;
        }
        if (!same_requester(request, &control_thread->request[0])) {
            control_thread->next = *request;
            control_thread->has_next = true;
            break;
        }
        ++control_thread->request_count;
    }
    return true;
}

static void host_control_thread_refuse(struct rm_host_control_thread *control_thread, struct rm_request const *request,
                                       char const *reason) {
    rm_inbox_answer(control_thread->beside.inbox, request, RM_VERDICT_REFUSED, reason);
    rm_counter_add(control_thread->host->counters, RM_APPLICATION_REFUSED, 1);
}

/** Puts a request's values into the proposal, or refuses it. */
static bool host_control_thread_consider(struct rm_host_control_thread *control_thread,
                                         struct rm_request const *request) {
    struct rm_host_settings *settings = &control_thread->host->settings;
    struct rm_parameter *parameter;
    char reason[RM_REASON_BYTES];
    if (!rm_inbox_judge(control_thread->beside.inbox, request, &parameter, reason)) {
        host_control_thread_refuse(control_thread, request, reason);
        return false;
    }
    if (rm_host_peer_takes(&control_thread->peer, parameter, reason)) {
        if (reason[0] == '\0')
            rm_inbox_answer(control_thread->beside.inbox, request, RM_VERDICT_DONE, NULL);
        else
            host_control_thread_refuse(control_thread, request, reason);
        return false;
    }
    for (uint32_t i = 0; i < settings->count; ++i) {
        if (settings->parameter[i] != parameter)
            continue;
        rm_host_settings_ask(settings, i, request->first, request->value, request->bytes);
        return true;
    }
    host_control_thread_refuse(control_thread, request, "not a setting");
    return false;
}

/** One proposal, and what became of each of its requests. */
static void host_control_thread_propose(struct rm_host_control_thread *control_thread) {
    struct rm_host_settings *settings = &control_thread->host->settings;
    bool any = false;
    /* What was taken by an answer that came too late belongs to the stepping thread until then. */
    if (rm_mailbox_is_in(&settings->mailbox, RM_MAILBOX_TAKEN)) {
        for (uint32_t i = 0; i < control_thread->request_count; ++i)
            host_control_thread_refuse(control_thread, &control_thread->request[i],
                                       "the application is still judging an earlier change");
        return;
    }
    rm_host_settings_begin(settings);
    for (uint32_t i = 0; i < control_thread->request_count; ++i) {
        control_thread->wanted[i] = host_control_thread_consider(control_thread, &control_thread->request[i]);
        any = any || control_thread->wanted[i];
    }
    if (!any)
        return;
    struct rm_error error;
    enum rm_code const code = rm_host_settings_propose(settings, ANSWER_NS, &error);
    if (code == RM_OK)
        rm_host_peer_wait(&control_thread->peer);
    for (uint32_t i = 0; i < control_thread->request_count; ++i) {
        if (!control_thread->wanted[i])
            continue;
        if (code == RM_OK)
            rm_inbox_answer(control_thread->beside.inbox, &control_thread->request[i], RM_VERDICT_DONE, NULL);
        else
            host_control_thread_refuse(control_thread, &control_thread->request[i], error.text);
    }
}

static void host_control_thread_look(void *context) {
    struct rm_host_control_thread *control_thread = context;
    look_at_server(control_thread);
    rm_host_peer_look(&control_thread->peer, control_thread->server);
    tell_withdrawal(control_thread);
}

static void host_control_thread_answer(void *context, uint64_t until_ns) {
    while (host_control_thread_gather(context)) {
        host_control_thread_propose(context);
        if (rm_monotonic_ns() >= until_ns)
            return;
    }
}

enum rm_code rm_host_control_thread_start(struct rm_host *host, struct rm_host_control_thread **control_thread,
                                          struct rm_error *error) {
    struct rm_host_control_thread *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a thread");
    made->host = host;
    made->peer.host = host;
    made->beside = (struct rm_inbox_thread){
        .look = host_control_thread_look, .answer = host_control_thread_answer, .context = made};
    enum rm_code const code = rm_inbox_thread_start(&made->beside, host->owner, error);
    if (code != RM_OK) {
        rm_host_control_thread_stop(made);
        return code;
    }
    *control_thread = made;
    return RM_OK;
}

void rm_host_control_thread_stop(struct rm_host_control_thread *control_thread) {
    if (control_thread == NULL)
        return;
    rm_inbox_thread_stop(&control_thread->beside);
    rm_host_peer_close(&control_thread->peer);
    rm_host_server_detach(control_thread->leaving);
    rm_host_server_detach(control_thread->server);
    free(control_thread);
}
