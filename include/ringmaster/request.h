// SPDX-License-Identifier: Apache-2.0
/** Requests: asking the owner of a parameter to set it.
 *
 * Nobody writes another's memory. Who wants a parameter to change writes a request into a segment of its own, and rings
 * the owner's doorbell; the owner finds it, judges it, changes the parameter or does not, and writes a reply into *its*
 * own segment. A reply says done, or refused and why. All of it is plain memory but the doorbell, which is a futex
 * wake: an owner that polls anyway (an application, between two steps) needs none.
 *
 *     requester's segment                       owner's segment
 *     rm_requests: slot[n & mask] ──read by──▶  judges, sets the parameter
 *     read by ◀── rm_replies: slot[m & mask]    and answers
 *
 * Ordering, both ways: the writer fences (release), fills a slot with relaxed stores, then stores `head` with release;
 * the reader loads `head` with acquire, copies the slot, fences (acquire) and loads `head` again: the copy is whole if
 * the slot was not lapped meanwhile, which begins when the head is that of the slot's next user less one. So request n
 * is whole while head < n + RM_REQUEST_SLOTS - 1, reply m (from 0) while head < m + RM_REPLY_SLOTS. (rm_requests_post
 * pairs with rm_inbox_take, rm_inbox_answer with rm_requests_reply; the fences with each other.)
 *
 * A requester that has RM_REQUEST_SLOTS requests or more under way overwrites its own oldest: its owner answers those
 * that it could read, and counts the others. Values are packed elements of the parameter's type, `first` counts
 * elements, so part of an array can be set.
 *
 * An owner's replies to all go round in one ring: who looks too seldom may find his overwritten. He sees that by the
 * head, which is then RM_REPLY_SLOTS - 1 or more ahead of where he looked last, and asks again (rm_requests_put does).
 * A request that was posted before its owner's instance began is not done: the instance before may have done it.
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
    RM_REQUEST_SLOTS = 16,
    RM_REPLY_SLOTS = 64,
    /** Longer arrays are set in parts, or as a file. */
    RM_REQUEST_VALUE_BYTES = 4096,
};

/** Programs that may be open to ask at one time: of one user, so that no user takes the places of all, and in all. An
 * owner reads the requests of no more. One more is refused when it opens (rm_owner_open: RM_E_BUSY). */
enum rm_requesters { RM_REQUESTERS_PER_USER = 256, RM_REQUESTERS_MAX = 1024 };

enum rm_verdict {
    RM_VERDICT_DONE = 1,
    /** The reason says why: "…/setpoint: 12.5 A is above the control limit of 10 A". */
    RM_VERDICT_REFUSED = 2,
};

/** One request, as it lies in memory. Words of text and values are written and read as u64. */
struct rm_request_slot {
    /** 1, 2, 3, … per requester's instance. */
    _Atomic uint64_t number;
    /** When it was posted. */
    _Atomic uint64_t timestamp_tai_ns;
    /** First element. */
    _Atomic uint64_t first;
    /** Of values. */
    _Atomic uint64_t bytes;

    _Atomic uint64_t reserved[4];
    /** Its name. */
    _Atomic uint64_t parameter[RM_NAME_BYTES / 8];
    /** Its owner, who answers. */
    _Atomic uint64_t owner[RM_OWNER_BYTES / 8];

    _Atomic uint64_t value[RM_REQUEST_VALUE_BYTES / 8];
};

struct rm_requests {
    /** Requests ever posted. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t head;

    uint64_t reserved[7];
    /** Request n (from 1) is in slot n & (RM_REQUEST_SLOTS - 1). */
    struct rm_request_slot slot[RM_REQUEST_SLOTS];
};

struct rm_reply_slot {
    /** Of the request. */
    _Atomic uint64_t number;
    /** rm_segment_header.epoch of the requester. */
    _Atomic uint64_t requester_epoch;
    /** enum rm_verdict */
    _Atomic uint64_t verdict;
    /** When it was judged. */
    _Atomic uint64_t timestamp_tai_ns;
    /** Its name as an owner. */
    _Atomic uint64_t requester[RM_OWNER_BYTES / 8];

    _Atomic uint64_t reason[RM_REASON_BYTES / 8];
};

struct rm_replies {
    /** Replies ever given. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t head;
    /** Of those. */
    _Atomic uint64_t refused;
    /** Requests that were overwritten before they could be read. */
    _Atomic uint64_t missed;
    /** futex: an owner waits here, requesters wake it. */
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
    /** "" when done. */
    char reason[RM_REASON_BYTES];
};

/* ── who asks ── */

/** Posts a request into the requests object of the caller's own open segment, and rings. `parameter` is read in
 * `workspace`. RM_E_NOT_FOUND with the nearest name; RM_E_ARGUMENT for a part that it does not have, RM_E_DEAD when its
 * owner has ended. `*number` names the request. One thread. */
enum rm_code rm_requests_post(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t first, void const *values, size_t bytes, uint64_t *number,
                              struct rm_error *error);

/** Looks for the reply to request `number` of the owner `to`; memory reads only. False while there is none. */
bool rm_requests_reply(struct rm_owner const *owner, struct rm_workspace *workspace, char const *to, uint64_t number,
                       struct rm_reply *reply);

/** Posts and waits, polling, up to `timeout_ns`. RM_E_BUSY when the owner lives and has not answered in time. A refusal
 * is RM_OK with its verdict in `reply`. */
enum rm_code rm_requests_put(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                             uint64_t first, void const *values, size_t bytes, uint64_t timeout_ns,
                             struct rm_reply *reply, struct rm_error *error);

/* ── who answers ── */

/** What an owner has to look at: the requests of all others in its workspace. */
struct rm_inbox;

/** A request in private memory: copied first, judged after. */
struct rm_request {
    char requester[RM_OWNER_BYTES];
    uint64_t requester_epoch;
    /** The user who owns the requester's file: told by the system, not by the requester. */
    uint32_t requester_uid;

    uint64_t number;
    char parameter[RM_NAME_BYTES];
    uint64_t first;
    /** ≤ RM_REQUEST_VALUE_BYTES. */
    uint64_t bytes;

    uint64_t timestamp_tai_ns;
    _Alignas(8) uint8_t value[RM_REQUEST_VALUE_BYTES];
};

/** `owner` has a replies object and is open; it outlives the inbox. */
enum rm_code rm_inbox_new(struct rm_owner *owner, struct rm_inbox **inbox, struct rm_error *error);
void rm_inbox_free(struct rm_inbox *inbox);

/** Looks who has come and gone; reads directories, so: off the hot path, every 100 ms or when the doorbell rang. */
void rm_inbox_look(struct rm_inbox *inbox);

/** Takes the next request for this owner; memory reads only. False when there is none. */
bool rm_inbox_take(struct rm_inbox *inbox, struct rm_request *request);

/** Answers one. `reason` is cut to its field; NULL when done. */
void rm_inbox_answer(struct rm_inbox *inbox, struct rm_request const *request, enum rm_verdict verdict,
                     char const *reason);

/** Judges a request as any parameter's owner does: it exists, is WRITABLE, the part is one that it has, each element is
 * a number within the control limits. Fills `reason` when it is not. */
bool rm_inbox_judge(struct rm_inbox *inbox, struct rm_request const *request, struct rm_parameter **parameter,
                    char reason[RM_REASON_BYTES]);

/** Judges, writes the parameter and answers: all that an owner without wishes of its own does. */
void rm_inbox_apply(struct rm_inbox *inbox, struct rm_request const *request, struct rm_stamp stamp);

/** Waits for the doorbell at most `timeout_ns`, not at all where a request waits: the one system call here. */
void rm_inbox_wait(struct rm_inbox *inbox, uint64_t timeout_ns);

#endif
