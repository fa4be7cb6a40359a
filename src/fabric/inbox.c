// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/request.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/doorbell.h"
#include "fabric/inbox_parts.h"
#include "fabric/owner_folder.h"
#include "fabric/owner_names.h"
#include "fabric/owner_parts.h"
#include "fabric/segment_find.h"
#include "fabric/segment_lock.h"
#include "fabric/words.h"

static uint64_t inbox_get_word(_Atomic uint64_t const *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

/** A requester, or another owner. All that is known of it stands here: its memory is read, and never asked where to
 * read. */
struct requester {
    struct rm_mapped_segment mapped;
    /** NULL: it makes no requests, and never will, for a file keeps its objects. It is kept all the same: to map it and
     * to check its objects at every look would take milliseconds of a core. */
    struct rm_requests const *requests;
    uint64_t generation; /**< of the instance whose requests are counted */
    uint64_t next;       /**< number of the request expected next */
    bool ephemeral;      /**< of the folder of requesters */
    bool seen;           /**< in the look that is under way */
};

/** Owners that stay have their places and those that come to ask have theirs, so that neither can take the others'. */
enum { PLACES = RM_OWNERS_MAX + RM_REQUESTERS_MAX };

struct rm_inbox {
    struct rm_owner *owner;
    struct rm_replies *replies;
    struct requester requester[PLACES];
    size_t count;
    size_t turn; /**< whose turn it is */
};

enum rm_code rm_inbox_new(struct rm_owner *owner, struct rm_inbox **inbox, struct rm_error *error) {
    if (!owner->open || owner->replies == RM_OWNER_NONE)
        return rm_fail(error, RM_E_ARGUMENT, "\"%s\" has no replies object, or is not open", owner->name);
    struct rm_inbox *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the inbox of \"%s\"", owner->name);
    made->owner = owner;
    made->replies = rm_owner_memory(owner, owner->replies);
    rm_inbox_look(made);
    *inbox = made;
    return RM_OK;
}

static void inbox_drop_requester(struct rm_inbox *inbox, size_t i) {
    rm_segment_unmap(&inbox->requester[i].mapped);
    inbox->requester[i] = inbox->requester[--inbox->count];
}

void rm_inbox_free(struct rm_inbox *inbox) {
    if (inbox == NULL)
        return;
    while (inbox->count > 0)
        inbox_drop_requester(inbox, 0);
    free(inbox);
}

/* ── looking for requesters ── */

static struct requester *inbox_known_requester(struct rm_inbox *inbox, char const *name, bool ephemeral) {
    for (size_t i = 0; i < inbox->count; ++i)
        if (inbox->requester[i].ephemeral == ephemeral && strcmp(inbox->requester[i].mapped.owner, name) == 0)
            return &inbox->requester[i];
    return NULL;
}

/** True when it has asked something that was not taken yet. */
static bool requester_asks(struct requester const *requester) {
    return requester->requests != NULL && inbox_get_word(&requester->requests->head) >= requester->next;
}

/** The file under a name, which its user may exchange at any time. */
static bool file_of(char const *directory, char const *name, struct stat *status) {
    char path[PATH_MAX];
    rm_segment_path(path, directory, name);
    return stat(path, status) == 0;
}

static uint64_t generation_of(struct requester const *requester) {
    return atomic_load_explicit(&requester->mapped.header->generation, memory_order_acquire);
}

/** Of requesters no user takes more than a part of the places. */
static bool has_place(struct rm_inbox const *inbox, bool ephemeral, uid_t uid) {
    size_t taken = 0, of_user = 0;
    for (size_t i = 0; i < inbox->count; ++i) {
        taken += inbox->requester[i].ephemeral == ephemeral;
        of_user += inbox->requester[i].ephemeral && inbox->requester[i].mapped.uid == uid;
    }
    return ephemeral ? taken < RM_REQUESTERS_MAX && of_user < RM_REQUESTERS_PER_USER : taken < RM_OWNERS_MAX;
}

/** Maps one that is new here. The place is that of the user whose file it was when it was looked at: one that was
 * exchanged since is for the next look. */
static void inbox_map_requester(struct rm_inbox *inbox, char const *directory, char const *name, bool ephemeral,
                                uid_t uid) {
    if (!has_place(inbox, ephemeral, uid))
        return;
    struct requester *requester = &inbox->requester[inbox->count];
    *requester = (struct requester){.next = 1, .ephemeral = ephemeral, .seen = true};
    enum rm_code const code = ephemeral
                                  ? rm_segment_map_in(directory, name, &requester->mapped, NULL)
                                  : rm_segment_map_readonly(inbox->owner->workspace, name, &requester->mapped, NULL);
    void const *memory;
    if (code != RM_OK)
        return;
    if (requester->mapped.uid != uid) {
        rm_segment_unmap(&requester->mapped);
        return;
    }
    if (rm_segment_find(&requester->mapped, RM_OBJECT_REQUESTS, NULL, sizeof(struct rm_requests), &memory) != NULL)
        requester->requests = memory;
    requester->generation = generation_of(requester);
    ++inbox->count;
}

static void look_at(struct rm_inbox *inbox, char const *directory, char const *name, bool ephemeral) {
    struct requester *requester = inbox_known_requester(inbox, name, ephemeral);
    struct stat status;
    if (!file_of(directory, name, &status))
        return;
    if (requester != NULL && status.st_ino == requester->mapped.inode && status.st_dev == requester->mapped.device)
        requester->seen = true;
    else
        inbox_map_requester(inbox, directory, name, ephemeral, status.st_uid);
}

/** Owners that stay: applications, virtual rings. */
static void look_at_owners(struct rm_inbox *inbox) {
    struct rm_owner_names names;
    char directory[PATH_MAX];
    rm_owner_names_list(&names, inbox->owner->workspace);
    for (size_t i = 0; i < names.count; ++i) {
        rm_owner_directory(directory, inbox->owner->workspace, names.name[i]);
        if (strcmp(names.name[i], inbox->owner->name) != 0)
            look_at(inbox, directory, names.name[i], false);
    }
    rm_owner_names_free(&names);
}

/** True when nothing that it asked of any owner can still be unread here. */
static bool inbox_is_drained(struct rm_inbox *inbox, char const *name) {
    struct requester const *requester = inbox_known_requester(inbox, name, true);
    return requester == NULL || !requester_asks(requester);
}

static void look_at_requesters(struct rm_inbox *inbox) {
    struct rm_owner_names names;
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s/%s", inbox->owner->workspace, RM_REQUESTS_FOLDER) >= PATH_MAX)
        return;
    rm_owner_names_list_in(&names, folder);
    for (size_t i = 0; i < names.count; ++i) {
        look_at(inbox, folder, names.name[i], true);
        if (inbox_is_drained(inbox, names.name[i]))
            rm_segment_lock_clear(folder, names.name[i]);
    }
    rm_owner_names_free(&names);
}

void rm_inbox_look(struct rm_inbox *inbox) {
    for (size_t i = 0; i < inbox->count; ++i)
        inbox->requester[i].seen = false;
    look_at_owners(inbox);
    look_at_requesters(inbox);
    for (size_t i = inbox->count; i-- > 0;)
        if (!inbox->requester[i].seen)
            inbox_drop_requester(inbox, i);
}

/* ── taking what they ask ── */

static void inbox_count_missed(struct rm_inbox *inbox, uint64_t count) {
    atomic_store_explicit(&inbox->replies->missed, inbox_get_word(&inbox->replies->missed) + count,
                          memory_order_relaxed);
}

/** Copies the slot of request `next`. True when the copy is whole, and what it says can be a request. */
static bool copy_slot(struct requester const *requester, struct rm_request *request, char owner[RM_OWNER_BYTES],
                      bool *whole) {
    struct rm_request_slot const *slot = &requester->requests->slot[requester->next & (RM_REQUEST_SLOTS - 1)];
    *request = (struct rm_request){
        .requester_generation = requester->generation,
        .requester_uid = requester->mapped.uid,
        .number = inbox_get_word(&slot->number),
        .first = inbox_get_word(&slot->first),
        .bytes = inbox_get_word(&slot->bytes),
        .timestamp_tai_ns = inbox_get_word(&slot->timestamp_tai_ns),
    };
    memcpy(request->requester, requester->mapped.owner, sizeof request->requester);
    rm_words_get_text(request->parameter, slot->parameter, sizeof request->parameter);
    rm_words_get_text(owner, slot->owner, RM_OWNER_BYTES);
    bool const sane = request->number == requester->next && request->bytes <= RM_REQUEST_VALUE_BYTES;
    if (sane)
        rm_words_get(request->value, slot->value, request->bytes);
    atomic_thread_fence(memory_order_acquire);
    *whole = inbox_get_word(&requester->requests->head) - requester->next < RM_REQUEST_SLOTS - 1 &&
             generation_of(requester) == requester->generation;
    return sane;
}

/** A requester that began anew counts from 1 again. */
static void follow_generation(struct requester *requester) {
    uint64_t const generation = generation_of(requester);
    if (generation == requester->generation)
        return;
    requester->generation = generation;
    requester->next = 1;
}

/** The next request of this one for us. Bounded: a requester that overtakes its reader loses what it overwrites. */
static bool take_from(struct rm_inbox *inbox, struct requester *requester, struct rm_request *request) {
    uint64_t const since = atomic_load_explicit(&inbox->owner->segment.header->started_tai_ns, memory_order_relaxed);
    for (int tries = 0; tries < RM_REQUEST_SLOTS; ++tries) {
        follow_generation(requester);
        /* Acquire: pairs with the release in rm_requests_post. */
        uint64_t const head = atomic_load_explicit(&requester->requests->head, memory_order_acquire);
        if (head < requester->next)
            return false;
        if (head - requester->next >= RM_REQUEST_SLOTS - 1) {
            inbox_count_missed(inbox, head - requester->next - (RM_REQUEST_SLOTS - 2));
            requester->next = head - (RM_REQUEST_SLOTS - 2);
        }
        char owner[RM_OWNER_BYTES];
        bool whole;
        bool const sane = copy_slot(requester, request, owner, &whole);
        if (!whole)
            continue;
        ++requester->next;
        if (!sane)
            inbox_count_missed(inbox, 1);
        else if (strcmp(owner, inbox->owner->name) == 0 && request->timestamp_tai_ns >= since)
            return true; // an older one was asked of an earlier instance, which may have done it
    }
    return false;
}

bool rm_inbox_take(struct rm_inbox *inbox, struct rm_request *request) {
    for (size_t asked = 0; asked < inbox->count; ++asked) {
        inbox->turn = (inbox->turn + 1) % inbox->count;
        struct requester *requester = &inbox->requester[inbox->turn];
        if (requester->requests != NULL && take_from(inbox, requester, request))
            return true;
    }
    return false;
}

/* ── answering ── */

void rm_inbox_answer(struct rm_inbox *inbox, struct rm_request const *request, enum rm_verdict verdict,
                     char const *reason) {
    struct rm_replies *replies = inbox->replies;
    uint64_t const m = inbox_get_word(&replies->head);
    struct rm_reply_slot *slot = &replies->slot[m & (RM_REPLY_SLOTS - 1)];
    /* Release: as in rm_requests_post; a reader that finds the head RM_REPLY_SLOTS ahead knows that this slot changes.
     */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->number, request->number, memory_order_relaxed);
    atomic_store_explicit(&slot->requester_generation, request->requester_generation, memory_order_relaxed);
    atomic_store_explicit(&slot->verdict, verdict, memory_order_relaxed);
    atomic_store_explicit(&slot->timestamp_tai_ns, rm_tai_ns(), memory_order_relaxed);
    rm_words_put_text(slot->requester, request->requester, RM_OWNER_BYTES);
    rm_words_put_text(slot->reason, reason != NULL ? reason : "", RM_REASON_BYTES);
    if (verdict == RM_VERDICT_REFUSED)
        atomic_store_explicit(&replies->refused, inbox_get_word(&replies->refused) + 1, memory_order_relaxed);
    atomic_store_explicit(&replies->head, m + 1, memory_order_release);
}

struct rm_owner *rm_inbox_owner(struct rm_inbox const *inbox) {
    return inbox->owner;
}

static bool any_waits(struct rm_inbox const *inbox) {
    for (size_t i = 0; i < inbox->count; ++i)
        if (requester_asks(&inbox->requester[i]))
            return true;
    return false;
}

void rm_inbox_wait(struct rm_inbox *inbox, uint64_t timeout_ns) {
    if (!any_waits(inbox))
        rm_doorbell_wait(&inbox->replies->doorbell, timeout_ns);
}
