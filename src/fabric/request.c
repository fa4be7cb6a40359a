// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/request.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/doorbell.h"
#include "fabric/element.h"
#include "fabric/owner_parts.h"
#include "fabric/segment_find.h"
#include "fabric/segment_lock.h"
#include "fabric/words.h"
#include "fabric/workspace_parts.h"

enum {
    LOOKS_AT_ONCE = 2000,      /**< at replies, before the first sleep: an owner that polls has answered by then */
    NAP_NS = 50000,            /**< between looks after that */
    RING_AGAIN_NS = 2000000,   /**< a ring that came between the owner's look and its sleep is lost */
    ALIVE_AGAIN_NS = 50000000, /**< asking whether the owner lives takes system calls */
};

static void request_put_word(_Atomic uint64_t *word, uint64_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t request_get_word(_Atomic uint64_t const *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

/** The parameter in the workspace that a request is about, and whose it is. */
struct target {
    struct rm_parameter const *parameter;
    struct rm_mapped_segment const *holder;
    struct rm_replies const *replies;
    uint64_t head; /**< of the replies, before anything was asked */
};

static enum rm_code find_target(struct rm_workspace *workspace, char const *name, struct target *target,
                                struct rm_error *error) {
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(workspace, RM_OBJECT_PARAMETER, name, &object, &memory, error);
    if (code != RM_OK)
        return code;
    target->parameter = memory;
    target->holder = rm_workspace_holder(workspace, memory);
    if (target->holder == NULL ||
        rm_segment_find(target->holder, RM_OBJECT_REPLIES, NULL, sizeof(struct rm_replies), &memory) == NULL) {
        rm_fail(error, RM_E_NOT_FOUND, "%s: its owner, %s, answers no requests", name,
                target->holder != NULL ? target->holder->owner : "unknown");
        return RM_E_NOT_FOUND;
    }
    target->replies = memory;
    target->head = request_get_word(&target->replies->head);
    return RM_OK;
}

static enum rm_code check_part(char const *name, struct rm_parameter const *parameter, uint64_t first, size_t bytes,
                               struct rm_error *error) {
    size_t const each = rm_element_bytes((enum rm_element_type)parameter->element_type);
    uint64_t const count = parameter->count;
    if (bytes == 0 || bytes > RM_REQUEST_VALUE_BYTES || each == 0 || bytes % each != 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "%s: a request has 1 to %zu whole elements of %zu bytes, not %zu bytes; set longer arrays in "
                       "parts",
                       name, RM_REQUEST_VALUE_BYTES / (each ? each : 1), each, bytes);
    if (first > count || bytes / each > count - first)
        return rm_fail(error, RM_E_ARGUMENT, "%s: has elements 0 to %llu; %zu from %llu on are not among them", name,
                       (unsigned long long)(count ? count - 1 : 0), bytes / each, (unsigned long long)first);
    return RM_OK;
}

static enum rm_code check_alive(struct rm_workspace *workspace, char const *name, struct target const *target,
                                struct rm_error *error) {
    char const *const owner = target->holder->owner;
    if (!rm_segment_lock_held(rm_workspace_directory(workspace), owner))
        return rm_fail(error, RM_E_DEAD, "%s: its owner, %s, has ended; start it again", name, owner);
    /* Acquire: pairs with the release of adopt_segment() and rm_segment_remove (segment_file.c). */
    if (atomic_load_explicit(&target->holder->header->state, memory_order_acquire) == RM_SEGMENT_REPLACED)
        return rm_fail(error, RM_E_DEAD, "%s: its owner, %s, began anew with other objects; attach again", name, owner);
    return RM_OK;
}

static uint64_t request_post_values(struct rm_requests *requests, struct target const *target, char const *name,
                                    uint64_t first, void const *values, size_t bytes) {
    uint64_t const number = request_get_word(&requests->head) + 1;
    struct rm_request_slot *slot = &requests->slot[number & (RM_REQUEST_SLOTS - 1)];
    /* Release: no store below is seen before the head is that of the request before it. So a reader that finds the head
       RM_REQUEST_SLOTS - 1 ahead of its request knows that this slot may be changing. */
    atomic_thread_fence(memory_order_release);
    request_put_word(&slot->number, number);
    request_put_word(&slot->timestamp_tai_ns, rm_tai_ns());
    request_put_word(&slot->first, first);
    request_put_word(&slot->bytes, bytes);
    rm_words_put_text(slot->parameter, name, RM_NAME_BYTES);
    rm_words_put_text(slot->owner, target->holder->owner, RM_OWNER_BYTES);
    rm_words_put(slot->value, values, bytes);
    atomic_store_explicit(&requests->head, number, memory_order_release);
    return number;
}

static enum rm_code post_to(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                            uint64_t first, void const *values, size_t bytes, struct target *target, uint64_t *number,
                            struct rm_error *error) {
    if (!owner->open || owner->requests == RM_OWNER_NONE) {
        rm_fail(error, RM_E_ARGUMENT, "\"%s\" has no requests object, or is not open", owner->name);
        return RM_E_ARGUMENT;
    }
    enum rm_code code = find_target(workspace, parameter, target, error);
    if (code == RM_OK)
        code = check_part(parameter, target->parameter, first, bytes, error);
    if (code == RM_OK)
        code = check_alive(workspace, parameter, target, error);
    if (code != RM_OK)
        return code;
    *number = request_post_values(rm_owner_memory(owner, owner->requests), target, parameter, first, values, bytes);
    rm_doorbell_ring(&target->replies->doorbell);
    return RM_OK;
}

enum rm_code rm_requests_post(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t first, void const *values, size_t bytes, uint64_t *number,
                              struct rm_error *error) {
    struct target target;
    return post_to(owner, workspace, parameter, first, values, bytes, &target, number, error);
}

/** True when reply `m` is to this request of this owner, and was copied whole. */
static bool read_reply(struct rm_replies const *replies, uint64_t m, struct rm_owner const *owner, uint64_t number,
                       struct rm_reply *reply) {
    struct rm_reply_slot const *slot = &replies->slot[m & (RM_REPLY_SLOTS - 1)];
    uint64_t const generation = atomic_load_explicit(&owner->segment.header->generation, memory_order_relaxed);
    if (request_get_word(&slot->number) != number || request_get_word(&slot->requester_generation) != generation)
        return false;
    char requester[RM_OWNER_BYTES];
    rm_words_get_text(requester, slot->requester, sizeof requester);
    *reply = (struct rm_reply){
        .verdict = request_get_word(&slot->verdict) == RM_VERDICT_DONE ? RM_VERDICT_DONE : RM_VERDICT_REFUSED,
        .timestamp_tai_ns = request_get_word(&slot->timestamp_tai_ns),
    };
    rm_words_get_text(reply->reason, slot->reason, sizeof reply->reason);
    atomic_thread_fence(memory_order_acquire);
    return request_get_word(&replies->head) - m < RM_REPLY_SLOTS && strcmp(requester, owner->name) == 0;
}

static bool find_reply(struct rm_replies const *replies, struct rm_owner const *owner, uint64_t number,
                       struct rm_reply *reply) {
    /* Acquire: pairs with the release in rm_inbox_answer. */
    uint64_t const head = atomic_load_explicit(&replies->head, memory_order_acquire);
    uint64_t const kept = head < RM_REPLY_SLOTS ? head : RM_REPLY_SLOTS - 1;
    for (uint64_t back = 1; back <= kept; ++back)
        if (read_reply(replies, head - back, owner, number, reply))
            return true;
    return false;
}

bool rm_requests_reply(struct rm_owner const *owner, struct rm_workspace *workspace, char const *to, uint64_t number,
                       struct rm_reply *reply) {
    struct rm_mapped_segment const *holder = rm_workspace_segment(workspace, to);
    void const *memory;
    return owner->open && holder != NULL &&
           rm_segment_find(holder, RM_OBJECT_REPLIES, NULL, sizeof(struct rm_replies), &memory) != NULL &&
           find_reply(memory, owner, number, reply);
}

/** Between two looks: spins at first, then sleeps. */
static void pause_between(uint64_t looks) {
    struct timespec const nap = {.tv_nsec = NAP_NS};
    if (looks < LOOKS_AT_ONCE)
        rm_pause();
    else
        nanosleep(&nap, NULL);
}

/** A request that is waited for. */
struct awaited_request {
    struct target target;
    char const *name;
    uint64_t first;
    void const *values; /**< NULL: it is not asked for again */
    size_t bytes;
    uint64_t number;
    uint64_t head; /**< of the replies, when they were looked through last */
};

/** Looks for the reply. Where others were given so many meanwhile that it may have been overwritten, asks once more: to
 * set something twice is to set it. */
static bool look_for_reply(struct rm_owner *owner, struct awaited_request *waiting, struct rm_reply *reply) {
    uint64_t const head = request_get_word(&waiting->target.replies->head);
    if (find_reply(waiting->target.replies, owner, waiting->number, reply))
        return true;
    bool const gone = request_get_word(&waiting->target.replies->head) - waiting->head >= RM_REPLY_SLOTS - 1;
    if (gone && waiting->values != NULL) {
        waiting->number = request_post_values(rm_owner_memory(owner, owner->requests), &waiting->target, waiting->name,
                                              waiting->first, waiting->values, waiting->bytes);
        rm_doorbell_ring(&waiting->target.replies->doorbell);
    }
    waiting->head = head;
    return false;
}

static enum rm_code wait_for_reply(struct rm_owner *owner, struct rm_workspace *workspace,
                                   struct awaited_request *waiting, uint64_t timeout_ns, struct rm_reply *reply,
                                   struct rm_error *error) {
    struct target const *target = &waiting->target;
    uint64_t const begun = rm_monotonic_ns();
    uint64_t ring_at = begun + RING_AGAIN_NS, alive_at = begun + ALIVE_AGAIN_NS, now = begun;
    for (uint64_t looks = 0; now - begun < timeout_ns; ++looks) {
        if (look_for_reply(owner, waiting, reply))
            return RM_OK;
        pause_between(looks);
        now = rm_monotonic_ns();
        if (now >= ring_at) {
            rm_doorbell_ring(&target->replies->doorbell);
            ring_at = now + RING_AGAIN_NS;
        }
        if (now < alive_at)
            continue;
        enum rm_code const code = check_alive(workspace, waiting->name, target, error);
        if (code != RM_OK)
            return find_reply(target->replies, owner, waiting->number, reply) ? RM_OK : code;
        alive_at = now + ALIVE_AGAIN_NS;
    }
    enum rm_code const code = check_alive(workspace, waiting->name, target, error);
    return code != RM_OK ? code
                         : rm_fail(error, RM_E_BUSY, "%s: its owner, %s, is alive and has not answered within %.3g s",
                                   waiting->name, target->holder->owner, (double)timeout_ns * 1e-9);
}

enum rm_code rm_requests_wait(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t number, uint64_t timeout_ns, struct rm_reply *reply, struct rm_error *error) {
    struct awaited_request waiting = {.name = parameter, .number = number};
    enum rm_code const code = find_target(workspace, parameter, &waiting.target, error);
    if (code != RM_OK)
        return code;
    waiting.head = waiting.target.head;
    return wait_for_reply(owner, workspace, &waiting, timeout_ns, reply, error);
}

enum rm_code rm_requests_put(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                             uint64_t first, void const *values, size_t bytes, uint64_t timeout_ns,
                             struct rm_reply *reply, struct rm_error *error) {
    struct awaited_request waiting = {.name = parameter, .first = first, .values = values, .bytes = bytes};
    enum rm_code const code =
        post_to(owner, workspace, parameter, first, values, bytes, &waiting.target, &waiting.number, error);
    if (code != RM_OK)
        return code;
    waiting.head = waiting.target.head;
    return wait_for_reply(owner, workspace, &waiting, timeout_ns, reply, error);
}
