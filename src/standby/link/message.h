// SPDX-License-Identifier: Apache-2.0
/** What the two processes tell each other: bodies of datagrams, bytes ↔ struct. Pure.
 *
 * | kind    | from            | says                                                                               |
 * |---------|-----------------|------------------------------------------------------------------------------------|
 * | HELLO   | both, at first  | which server this is, its build, its versions of the protocol, its configuration   |
 * | STATUS  | both, often     | role, term, turn; what has come here; how far the applications have followed       |
 * | VECTOR  | active          | setpoints that were sent, or targets: those that changed since vector `previous`   |
 * | STEP    | active          | a part of the decision record of one step                                          |
 * | REPEAT  | standby         | the step behind this one is missing here: go on from it                            |
 * | WANT    | standby         | a copy, of an application's state or of the configuration: offer it; or its chunks |
 * | OFFER   | active          | the copy's size and checksum                                                       |
 * | CHUNK   | active          | bytes of a copy                                                                    |
 * | SWITCH  | both            | a planned switch: proposed, agreed, refused                                        |
 * | BYE     | both            | this process ends in order                                                         |
 *
 * A reader takes any bytes, and returns false for those that are no such body.
 */
#ifndef RM_STANDBY_LINK_MESSAGE_H
#define RM_STANDBY_LINK_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/record.h>

#include "standby/link/datagram.h"

enum rm_peer_kind {
    RM_PEER_HELLO = 1,
    RM_PEER_STATUS = 2,
    RM_PEER_VECTOR = 3,
    RM_PEER_STEP = 4,
    RM_PEER_REPEAT = 5,
    RM_PEER_WANT = 6,
    RM_PEER_OFFER = 7,
    RM_PEER_CHUNK = 8,
    RM_PEER_SWITCH = 9,
    RM_PEER_BYE = 10,
};

enum {
    RM_PEER_NAME_BYTES = 25,
    RM_PEER_BUILD_BYTES = 40,
    RM_PEER_DIGEST_BYTES = 32,
    /** Most applications; as rm_config has, less the operator. */
    RM_PEER_APPLICATIONS = 15,
    /** Values of one VECTOR, records of one STEP, and bytes of one CHUNK. */
    RM_PEER_VECTOR_VALUES = 128,
    RM_PEER_STEP_RECORDS = 22,
    RM_PEER_CHUNK_BYTES = 1200,
    /** Most parts of a vector, and of a step. */
    RM_PEER_PARTS = 32,
    RM_PEER_REASON_BYTES = 128,
};

/** The members up to `least` are the same in all versions of the protocol. */
struct rm_peer_hello {
    uint8_t version, least;
    /** 1 or 2. */
    uint8_t server;
    char name[RM_PEER_NAME_BYTES];
    char build[RM_PEER_BUILD_BYTES];
    uint8_t digest[RM_PEER_DIGEST_BYTES];
};

enum rm_peer_vector_of { RM_PEER_SENT = 0, RM_PEER_TARGETS = 1, RM_PEER_VECTORS = 2 };

enum rm_peer_status_flag {
    RM_PEER_UNACKNOWLEDGED = 1,
    RM_PEER_SYNCHRONISED = 2,
    /** A vector is missing here: send the whole one. */
    RM_PEER_WANTS_SENT = 4,
    RM_PEER_WANTS_TARGETS = 8,
    /** The server lives that this process stands beside. */
    RM_PEER_HAS_SERVER = 16,
};

/** What of an application has come here. */
struct rm_peer_progress {
    /** The decision record that came last, of the active server: that went out last; and the step that was made here
     * last. RM_TURN_NONE: none. */
    rm_turn came, followed;
};

struct rm_peer_status {
    uint8_t role, reason, flags;
    uint32_t term;
    uint64_t instance;
    /** Turn of its newest cycle. */
    rm_turn turn;
    uint64_t acknowledged;
    /** When this was sent, by the sender's clock; the newest such time that came to it, and for how long it has that. */
    uint64_t time_ns, echo_ns, held_ns;
    /** [enum rm_peer_vector_of] number of the newest vector that went out. */
    uint64_t vector[RM_PEER_VECTORS];
    uint8_t count;
    struct rm_peer_progress progress[RM_PEER_APPLICATIONS];
};

/** A part of a vector: values first, first + 1, … of `actuators`. */
struct rm_peer_vector {
    /** enum rm_peer_vector_of */
    uint8_t of;
    uint8_t part, parts;
    uint16_t actuators, first, count;
    /** Number of the vector, and of the one to which this tells the differences; 0: it is whole. */
    uint64_t number, previous;
    rm_turn turn;
    double value[RM_PEER_VECTOR_VALUES];
};

struct rm_peer_record {
    /** Index of the stream, in the order of rm_peer_streams. */
    uint16_t stream;
    uint64_t tag;
    union rm_lane lane[RM_LANES];
};

/** A part of the records of one step of an application. */
struct rm_peer_step {
    /** Index into the applications. */
    uint8_t application;
    uint8_t part, parts;
    uint8_t count;
    /** How often the records of this application have begun in this session, from 1. */
    uint32_t beginning;
    /** The step before it; RM_TURN_NONE: it is the first of this beginning. */
    rm_turn turn, previous;
    struct rm_peer_record record[RM_PEER_STEP_RECORDS];
};

struct rm_peer_repeat {
    uint8_t application;
    /** RM_TURN_NONE: nothing has come yet. */
    rm_turn after;
};

enum rm_peer_copy_of { RM_PEER_STATE = 0, RM_PEER_CONFIGURATION = 1 };

/** Asks for chunks `first` … of copy `id`, or for an offer where `id` is 0: of a state no older than `turn`. */
struct rm_peer_want {
    uint8_t of, application;
    uint16_t count;
    uint32_t first;
    uint64_t id;
    rm_turn turn;
};

struct rm_peer_offer {
    uint8_t of, application;
    uint64_t id, bytes;
    /** Of all the bytes (rm_peer_sum), and the state's own. */
    uint64_t sum, checksum;
    /** Of a state: rm_state has the same. */
    uint64_t turn, steps;
};

struct rm_peer_chunk {
    uint8_t of, application;
    uint32_t index;
    uint64_t id;
    uint16_t count;
    uint8_t bytes[RM_PEER_CHUNK_BYTES];
};

/** The active server asks; the standby proposes; the active one agrees, or either refuses (link_switch.c). */
enum rm_peer_switch_phase { RM_PEER_ASKED = 1, RM_PEER_PROPOSED = 2, RM_PEER_AGREED = 3, RM_PEER_REFUSED = 4 };

struct rm_peer_switch {
    uint8_t phase;
    uint64_t id;
    rm_turn turn;
    char reason[RM_PEER_REASON_BYTES];
};

struct rm_peer_message {
    enum rm_peer_kind kind;
    union {
        struct rm_peer_hello hello;
        struct rm_peer_status status;
        struct rm_peer_vector vector;
        struct rm_peer_step step;
        struct rm_peer_repeat repeat;
        struct rm_peer_want want;
        struct rm_peer_offer offer;
        struct rm_peer_chunk chunk;
        struct rm_peer_switch exchange;
    };
};

/** Writes a body. Returns its length; 0 where it does not fit, or says what no reader would take. */
size_t rm_peer_message_write(struct rm_peer_message const *message, uint8_t body[RM_PEER_BODY_BYTES]);

/** Reads a body of this kind. */
bool rm_peer_message_read(uint8_t kind, uint8_t const *body, size_t bytes, struct rm_peer_message *message);

/** Sum of a copy's bytes, for an OFFER. */
uint64_t rm_peer_sum(void const *bytes, size_t count);

#endif
