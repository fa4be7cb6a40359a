// SPDX-License-Identifier: Apache-2.0
/** Requests: asking the owner of a parameter to set it.
 *
 * No process writes another's memory. A requester writes its request into a segment of its own, and rings the owner's
 * doorbell. The owner finds the request, judges it, changes the parameter or does not, and writes a reply into *its*
 * own segment. A reply says done, or refused and why. All of it is plain memory but the doorbell, which is a futex
 * wake. An owner that polls anyway (an application, between two steps) needs no doorbell.
 *
 *     requester's segment                       owner's segment
 *     rm_requests: slot[n & mask] ──read by──▶  judges, sets the parameter
 *     read by ◀── rm_replies: slot[m & mask]    and answers
 *
 * ## Memory ordering, both ways
 * The writer fences (release), fills a slot with relaxed stores, then stores `head` with release. The reader loads
 * `head` with acquire, copies the slot, fences (acquire) and loads `head` again. The acquire load pairs with the
 * release store of `head`: of rm_requests_post in rm_inbox_take, of rm_inbox_answer in rm_requests_reply. The acquire
 * fence pairs with the release fence of the writer that fills the slot anew. So the copy is whole if the slot was not
 * lapped meanwhile, which begins when the head is that of the slot's next user less one: request n (from 1) is whole
 * while head < n + RM_REQUEST_SLOTS - 1, reply m (from 0) while head < m + RM_REPLY_SLOTS.
 *
 * ## What gets lost
 * A requester with more than RM_REQUEST_SLOTS - 1 requests under way overwrites its own oldest ones. The owner answers
 * those that it could read, and counts the others. All replies of an owner go round in one ring, so a requester that
 * looks too seldom may find its reply overwritten. The head is then RM_REPLY_SLOTS - 1 or more ahead of where it looked
 * last, and it asks again, as rm_requests_put does. A request that was posted before its owner's instance began is not
 * done: the instance before may have done it.
 *
 * Values are packed elements of the parameter's type. `first` counts elements, so part of an array can be set.
 */
#ifndef RINGMASTER_REQUEST_H
#define RINGMASTER_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/error.h>
#include <ringmaster/owner.h>
#include <ringmaster/parameter.h>
#include <ringmaster/segment.h>
#include <ringmaster/workspace.h>

enum {
    /** Slots of a requester, a power of two. */
    RM_REQUEST_SLOTS = 16,
    /** Slots of an owner, a power of two. */
    RM_REPLY_SLOTS = 64,
    /** Most bytes of values in a request. Longer arrays are set in parts, or as a file. */
    RM_REQUEST_VALUE_BYTES = 4096,
};

/** Most requesters that may be open at one time: of one user, so that no user takes the places of all, and in all. An
 * owner reads the requests of no more. One more is refused when it opens (rm_owner_open: RM_E_BUSY). */
enum rm_requesters { RM_REQUESTERS_PER_USER = 256, RM_REQUESTERS_MAX = 1024 };

/** What became of a request. */
enum rm_verdict {
    /** The parameter was set. */
    RM_VERDICT_DONE = 1,
    /** The parameter was not set. The reason says why: "…/setpoint: 12.5 A is above the control limit of 10 A". */
    RM_VERDICT_REFUSED = 2,
};

/** One request, as it lies in memory. Words of text and values are written and read as u64. */
struct rm_request_slot {
    /** Number of the request: 1, 2, 3, … in each instance of the requester. */
    _Atomic uint64_t number;
    /** When it was posted: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Index of the first element to set. */
    _Atomic uint64_t first;
    /** Bytes of `value` that are used. */
    _Atomic uint64_t bytes;

    _Atomic uint64_t reserved[4];
    /** Name of the parameter. */
    _Atomic uint64_t parameter[RM_NAME_BYTES / 8];
    /** Owner of the parameter, which answers. */
    _Atomic uint64_t owner[RM_OWNER_BYTES / 8];
    /** New values. */
    _Atomic uint64_t value[RM_REQUEST_VALUE_BYTES / 8];
};

/** A requests object: what this owner asks of others. */
struct rm_requests {
    /** Number of requests ever posted. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t head;

    uint64_t reserved[7];
    /** Request n (from 1) is in slot n & (RM_REQUEST_SLOTS - 1). */
    struct rm_request_slot slot[RM_REQUEST_SLOTS];
};

/** One reply, as it lies in memory. */
struct rm_reply_slot {
    /** Number of the request. */
    _Atomic uint64_t number;
    /** Instance of the requester: rm_segment_header.generation. */
    _Atomic uint64_t requester_generation;
    /** enum rm_verdict */
    _Atomic uint64_t verdict;
    /** When it was judged: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Name of the requester as an owner. */
    _Atomic uint64_t requester[RM_OWNER_BYTES / 8];
    /** Why it was refused. "" when it was done. */
    _Atomic uint64_t reason[RM_REASON_BYTES / 8];
};

/** A replies object: what this owner answered. */
struct rm_replies {
    /** Number of replies ever given. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t head;
    /** Number of these that refused. */
    _Atomic uint64_t refused;
    /** Number of requests that were overwritten before they could be read. */
    _Atomic uint64_t missed;
    /** A futex. The owner waits on it; requesters wake it. */
    _Atomic uint32_t doorbell;

    uint32_t reserved32;
    uint64_t reserved[4];
    /** Reply m (from 0) is in slot m & (RM_REPLY_SLOTS - 1). */
    struct rm_reply_slot slot[RM_REPLY_SLOTS];
};

/** A reply in private memory. */
struct rm_reply {
    enum rm_verdict verdict;
    uint64_t timestamp_tai_ns;
    /** Why it was refused. "" when it was done. */
    char reason[RM_REASON_BYTES];
};

/* ── asking ── */

/** Posts a request into the requests object of the caller's own open segment, and rings the doorbell. `parameter` is
 * looked up in `workspace`. `*number` then names the request. Errors: RM_E_NOT_FOUND, with the nearest name;
 * RM_E_ARGUMENT for elements that the parameter does not have; RM_E_DEAD when its owner has ended. One thread. */
enum rm_code rm_requests_post(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t first, void const *values, size_t bytes, uint64_t *number,
                              struct rm_error *error);

/** Looks for the reply of the owner `to` to request `number`. Returns false while there is none. Only reads memory. */
bool rm_requests_reply(struct rm_owner const *owner, struct rm_workspace *workspace, char const *to, uint64_t number,
                       struct rm_reply *reply);

/** Waits for the reply to request `number` about `parameter`, polling, at most `timeout_ns`: post several, then wait for
 * each. A refusal is RM_OK, with its verdict in `reply`. Errors: RM_E_DEAD when the owner has ended or begun anew;
 * RM_E_BUSY when it lives and has not answered in time, or has answered so many others since that the reply is gone. */
enum rm_code rm_requests_wait(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t number, uint64_t timeout_ns, struct rm_reply *reply, struct rm_error *error);

/** Posts a request and waits for its reply, polling, at most `timeout_ns`. A refusal is RM_OK, with its verdict in
 * `reply`. Errors: as rm_requests_post; RM_E_BUSY when the owner lives and has not answered in time. */
enum rm_code rm_requests_put(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                             uint64_t first, void const *values, size_t bytes, uint64_t timeout_ns,
                             struct rm_reply *reply, struct rm_error *error);

/* ── answering ── */

/** The requests of all others in the workspace of an owner. Used by one thread. */
struct rm_inbox;

/** A request in private memory: copied first, judged after. */
struct rm_request {
    char requester[RM_OWNER_BYTES];
    uint64_t requester_generation;
    /** User who owns the requester's file. The system says so, not the requester. */
    uint32_t requester_uid;

    uint64_t number;
    char parameter[RM_NAME_BYTES];
    uint64_t first;
    /** Bytes of `value` that are used, ≤ RM_REQUEST_VALUE_BYTES. */
    uint64_t bytes;

    uint64_t timestamp_tai_ns;
    _Alignas(8) uint8_t value[RM_REQUEST_VALUE_BYTES];
};

/** Makes an inbox, which ends with rm_inbox_free. `owner` has a replies object, is open, and outlives the inbox. */
enum rm_code rm_inbox_new(struct rm_owner *owner, struct rm_inbox **inbox, struct rm_error *error);
void rm_inbox_free(struct rm_inbox *inbox);

/** Looks which requesters have come and gone, every 100 ms or when the doorbell rang. It reads directories: not for the
 * hot path. */
void rm_inbox_look(struct rm_inbox *inbox);

/** Takes the next request for this owner. Returns false when there is none. Only reads memory. */
bool rm_inbox_take(struct rm_inbox *inbox, struct rm_request *request);

/** Answers a request. `reason` is cut to RM_REASON_BYTES; NULL when done. */
void rm_inbox_answer(struct rm_inbox *inbox, struct rm_request const *request, enum rm_verdict verdict,
                     char const *reason);

/** Judges a request as the owner of any parameter does: the parameter exists, it is WRITABLE, it has these elements,
 * and each new value is a number within the control limits. Returns false, and fills `reason`, when one of these
 * fails. */
bool rm_inbox_judge(struct rm_inbox *inbox, struct rm_request const *request, struct rm_parameter **parameter,
                    char reason[RM_REASON_BYTES]);

/** Judges a request, writes the parameter and answers: all that an owner without rules of its own does. */
void rm_inbox_apply(struct rm_inbox *inbox, struct rm_request const *request, struct rm_stamp stamp);

/** Sleeps until the doorbell rings, at most `timeout_ns`. Returns at once where a request waits. The one system call
 * here. */
void rm_inbox_wait(struct rm_inbox *inbox, uint64_t timeout_ns);

#endif
