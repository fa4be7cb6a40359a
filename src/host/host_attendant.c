// SPDX-License-Identifier: Apache-2.0
#include "host/host_attendant.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ringmaster/request.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "host/host_permissions.h"
#include "host/host_state.h"

static uint64_t const LOOK_NS = 100000000;    /**< from one look at the server to the next */
static uint64_t const SLEEP_NS = 5000000;     /**< for which a bell may go unheard: a wake has no memory */
static uint64_t const GATHER_NS = 300000;     /**< requests of one requester that come so close together are one */
static uint64_t const ANSWER_NS = 1000000000; /**< a step that takes longer is not waited for */

struct rm_host_attendant {
    struct rm_host *host;
    struct rm_inbox *inbox;
    struct rm_host_server *server;               /**< posted last */
    struct rm_host_server *leaving;              /**< the one before it, until the stepping thread lets it go */
    struct rm_error said;                        /**< why there is no server, as it was said last */
    double withdrawn;                            /**< enum rm_withdrawal, as it was said last */
    struct rm_request request[RM_REQUEST_SLOTS]; /**< one proposal */
    bool wanted[RM_REQUEST_SLOTS];               /**< not refused by its limits */
    uint32_t request_count;
    struct rm_request next; /**< taken already, of another requester */
    bool has_next;
    atomic_bool ending;
    pthread_t thread;
};

static void say(struct rm_host_attendant *attendant, char const *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct rm_host_attendant *attendant, char const *format, ...) {
    struct rm_host_setup const *setup = attendant->host->setup;
    if (setup->say == NULL)
        return;
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    setup->say(setup->context, text);
}

/* ── the server ── */

static void post(struct rm_host_attendant *attendant, struct rm_host_server *server) {
    attendant->leaving = attendant->server;
    attendant->server = server;
    atomic_store_explicit(&attendant->host->posted, server, memory_order_release);
}

/** True when nothing of an earlier server is in use. Acquire: pairs with the release in rm_host_duty. */
static bool let_go(struct rm_host_attendant *attendant) {
    if (attendant->leaving == NULL)
        return true;
    if (atomic_load_explicit(&attendant->host->taken, memory_order_acquire) != attendant->server)
        return false;
    rm_host_server_detach(attendant->leaving);
    attendant->leaving = NULL;
    return true;
}

static void look_for_server(struct rm_host_attendant *attendant) {
    struct rm_host_setup const *setup = attendant->host->setup;
    struct rm_host_server *server;
    struct rm_error error;
    if (rm_host_server_attach(setup, &server, &error) == RM_OK) {
        say(attendant, "the server of workspace \"%s\" is there", setup->workspace);
        attendant->said.text[0] = '\0';
        post(attendant, server);
        return;
    }
    if (strcmp(error.text, attendant->said.text) == 0)
        return;
    attendant->said = error;
    say(attendant, "waiting for the server: %s", error.text);
}

static void look_at_server(struct rm_host_attendant *attendant) {
    if (!let_go(attendant))
        return;
    if (attendant->server == NULL) {
        look_for_server(attendant);
        return;
    }
    if (rm_host_server_lives(attendant->server))
        return;
    say(attendant, "the server has gone: no steps until it is back");
    post(attendant, NULL);
}

/** Whoever runs it must hear that it acts no more. */
static void tell_withdrawal(struct rm_host_attendant *attendant) {
    struct rm_parameter const *withdrawn = attendant->host->settings.withdrawn;
    double const now = withdrawn != NULL ? rm_parameter_read_f64(withdrawn) : RM_WITHDRAWN_NOT;
    if (now == attendant->withdrawn)
        return;
    attendant->withdrawn = now;
    if (now != RM_WITHDRAWN_NOT)
        say(attendant, "it may not act any more, because %s: look, then give the permission again",
            rm_withdrawal_words((enum rm_withdrawal)now));
}

/* ── requests ── */

static bool same_requester(struct rm_request const *a, struct rm_request const *b) {
    return a->requester_epoch == b->requester_epoch && strcmp(a->requester, b->requester) == 0;
}

/** The next request, which may be one that was taken for another proposal. */
static bool take(struct rm_host_attendant *attendant, struct rm_request *request) {
    if (!attendant->has_next)
        return rm_inbox_take(attendant->inbox, request);
    *request = attendant->next;
    attendant->has_next = false;
    return true;
}

/** Takes what one requester asks for together; false when nobody asks. */
static bool gather(struct rm_host_attendant *attendant) {
    attendant->request_count = 0;
    if (!take(attendant, &attendant->request[0]))
        return false;
    attendant->request_count = 1;
    uint64_t const end = rm_monotonic_ns() + GATHER_NS;
    while (attendant->request_count < RM_REQUEST_SLOTS) {
        struct rm_request *request = &attendant->request[attendant->request_count];
        if (!rm_inbox_take(attendant->inbox, request)) {
            if (rm_monotonic_ns() >= end)
                break;
            rm_pause();
            continue;
        }
        if (!same_requester(request, &attendant->request[0])) {
            attendant->next = *request;
            attendant->has_next = true;
            break;
        }
        ++attendant->request_count;
    }
    return true;
}

static void refuse(struct rm_host_attendant *attendant, struct rm_request const *request, char const *reason) {
    rm_inbox_answer(attendant->inbox, request, RM_VERDICT_REFUSED, reason);
    rm_counter_add(attendant->host->counters, RM_APPLICATION_REFUSED, 1);
}

/** Puts a request's values into the proposal, or refuses it. */
static bool consider(struct rm_host_attendant *attendant, struct rm_request const *request) {
    struct rm_host_settings *settings = &attendant->host->settings;
    struct rm_parameter *parameter;
    char reason[RM_REASON_BYTES];
    if (!rm_inbox_judge(attendant->inbox, request, &parameter, reason)) {
        refuse(attendant, request, reason);
        return false;
    }
    for (uint32_t i = 0; i < settings->count; ++i) {
        if (settings->parameter[i] != parameter)
            continue;
        rm_host_settings_ask(settings, i, request->first, request->value, request->bytes);
        return true;
    }
    refuse(attendant, request, "not a setting");
    return false;
}

/** One proposal, and what became of each of its requests. */
static void propose(struct rm_host_attendant *attendant) {
    struct rm_host_settings *settings = &attendant->host->settings;
    bool any = false;
    /* What was taken by an answer that came too late belongs to the stepping thread until then. */
    if (atomic_load_explicit(&settings->state, memory_order_acquire) == RM_PROPOSAL_TAKEN) {
        for (uint32_t i = 0; i < attendant->request_count; ++i)
            refuse(attendant, &attendant->request[i], "the application is still judging an earlier change");
        return;
    }
    rm_host_settings_begin(settings);
    for (uint32_t i = 0; i < attendant->request_count; ++i) {
        attendant->wanted[i] = consider(attendant, &attendant->request[i]);
        any = any || attendant->wanted[i];
    }
    if (!any)
        return;
    struct rm_error error;
    enum rm_code const code = rm_host_settings_propose(settings, ANSWER_NS, &error);
    for (uint32_t i = 0; i < attendant->request_count; ++i) {
        if (!attendant->wanted[i])
            continue;
        if (code == RM_OK)
            rm_inbox_answer(attendant->inbox, &attendant->request[i], RM_VERDICT_DONE, NULL);
        else
            refuse(attendant, &attendant->request[i], error.text);
    }
}

static void *run(void *argument) {
    struct rm_host_attendant *attendant = argument;
    uint64_t looked_ns = 0;
    while (!atomic_load_explicit(&attendant->ending, memory_order_relaxed)) {
        uint64_t const now = rm_monotonic_ns();
        if (now - looked_ns >= LOOK_NS) {
            looked_ns = now;
            look_at_server(attendant);
            tell_withdrawal(attendant);
            rm_inbox_look(attendant->inbox);
        }
        while (gather(attendant))
            propose(attendant);
        uint64_t const slept = rm_monotonic_ns();
        rm_inbox_wait(attendant->inbox, SLEEP_NS);
        if (rm_monotonic_ns() - slept < SLEEP_NS / 2) // somebody rang, maybe for the first time
            rm_inbox_look(attendant->inbox);
    }
    return NULL;
}

enum rm_code rm_host_attendant_start(struct rm_host *host, struct rm_host_attendant **attendant,
                                     struct rm_error *error) {
    struct rm_host_attendant *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a thread");
    made->host = host;
    enum rm_code const code = rm_inbox_new(host->owner, &made->inbox, error);
    if (code != RM_OK) {
        free(made);
        return code;
    }
    int const reason = pthread_create(&made->thread, NULL, run, made);
    if (reason != 0) {
        rm_inbox_free(made->inbox);
        free(made);
        return rm_fail(error, RM_E_SYSTEM, "no thread: %s", strerror(reason));
    }
    pthread_setname_np(made->thread, "rm-attendant");
    *attendant = made;
    return RM_OK;
}

void rm_host_attendant_stop(struct rm_host_attendant *attendant) {
    if (attendant == NULL)
        return;
    atomic_store(&attendant->ending, true);
    pthread_join(attendant->thread, NULL);
    rm_inbox_free(attendant->inbox);
    rm_host_server_detach(attendant->leaving);
    rm_host_server_detach(attendant->server);
    free(attendant);
}
