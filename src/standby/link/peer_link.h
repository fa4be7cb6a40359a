// SPDX-License-Identifier: Apache-2.0
/** One side of the link between two servers: what it sends, and what it makes of what comes. Pure.
 *
 *     rm_peer_link_make(&link, &setup)
 *     each datagram, as it comes:   rm_peer_link_receive(&link, bytes, size, now_ns);
 *     each cycle, or more often:    rm_peer_link_tick(&link, now_ns);
 *     an operator's command:        rm_peer_link_switch(&link, turn, now_ns), link.hold, link.acknowledged
 *     what came of it:              link.orders, rm_peer_link_why(&link, …)
 *     rm_peer_link_free(&link);
 *
 * It knows of no socket, clock or memory of others: what it needs of its own server is struct rm_peer_local, what it
 * sends goes to `send`. So two of them can be joined by a queue that loses, doubles and reorders (test_link.c).
 *
 * ## Who sends what
 * The server whose role is ACTIVE sends its setpoint vectors and decision records. The other one takes them, asks for
 * what it misses, and for a copy of the state of each application that is not in step. When all that is there, it says
 * `synchronised`: its server may be READY.
 *
 * ## What a silence means
 * A server that ends says nothing more, and its standby must take over in its place. So `synchronised` stays for some
 * time after the last word: for RM_PEER_LINK_SILENT_NS where nothing at all comes any more, for RM_PEER_SERVER_GONE_NS
 * where the peer's process says that its server is gone or not active. It ends at once where something is known to be
 * missing here.
 */
#ifndef RM_STANDBY_LINK_PEER_LINK_H
#define RM_STANDBY_LINK_PEER_LINK_H

#include <ringmaster/counters.h>
#include <ringmaster/standby.h>

#include "standby/link/copy.h"
#include "standby/link/session.h"
#include "standby/link/steps.h"

#define RM_PEER_LINK_SILENT_NS 100000000ull
#define RM_PEER_SERVER_GONE_NS 1000000000ull
/** A third server asks to join many times in this. */
#define RM_PEER_THIRD_NS 1000000000ull

enum { RM_PEER_WHY_BYTES = 1024 };

/** What is known of an application of the own server. */
struct rm_peer_application {
    /** It runs, and there is room for the peer's records. */
    bool present;
    /** It follows the peer's without a difference. */
    bool in_step;
    /** Turn of its newest step; RM_TURN_NONE: none. */
    rm_turn followed;
    /** Bytes of a state for which there is room here. */
    uint64_t state_capacity;
};

/** The own server, and the segment that is written for it. */
struct rm_peer_local {
    void *context;
    /** What the transmit role says of itself. False: there is no server. */
    bool (*state)(void *context, struct rm_standby_state_reading *reading);
    /** The newest vector, if it is another one than when it was asked for last. */
    bool (*vector)(void *context, enum rm_peer_vector_of of, double *values, rm_turn *turn);
    /** The step behind that of turn `after`; RM_TURN_NONE: the newest. `*previous` is `after`, or RM_TURN_NONE where
     * what came between cannot be read any more. */
    bool (*step)(void *context, uint32_t application, rm_turn after, struct rm_peer_records *records,
                 rm_turn *previous);
    void (*application)(void *context, uint32_t application, struct rm_peer_application *reading);
    /** Asks an application for its state, which takes some time. */
    void (*ask_state)(void *context, uint32_t application);
    /** Its state, if it is of `not_before` or later: bytes, and the offer's turn, steps, bytes and checksum. */
    bool (*copy_state)(void *context, uint32_t application, rm_turn not_before, struct rm_peer_copy_out *out);

    void (*put_vector)(void *context, enum rm_peer_vector_of of, double const *values, rm_turn turn);
    void (*put_step)(void *context, uint32_t application, struct rm_peer_records const *records);
    void (*put_state)(void *context, uint32_t application, struct rm_peer_offer const *offer, void const *bytes);
};

struct rm_peer_setup {
    /** 1 or 2. */
    uint8_t server;
    char const *name, *peer_name, *build;
    uint8_t key[RM_PEER_KEY_BYTES];
    /** RM_PEER_VERSION, RM_PEER_VERSION_LEAST. */
    uint8_t version, least;
    /** Lines of the configuration: differences.h. */
    char const *lines;
    uint32_t supplies;
    uint32_t application_count;
    /** [application] its name. */
    char const *application[RM_PEER_APPLICATIONS];
    uint32_t period_turns;
    double turn_rate_hz;
    struct rm_peer_local local;
    uint64_t (*draw)(void *context);
    void *draw_context;
    /** Sends a datagram over all links. */
    void (*send)(void *context, uint8_t const *bytes, size_t size);
    void *send_context;
};

/** What the two are to each other. */
enum rm_peer_relation {
    /** No session yet. */
    RM_PEER_UNKNOWN,
    RM_PEER_JOINED,
    RM_PEER_SAME_SERVER,
    RM_PEER_OTHER_NAME,
    RM_PEER_OTHER_VERSION,
    RM_PEER_OTHER_CONFIGURATION,
};

/** A planned switch that is being agreed, or was. */
struct rm_peer_planned {
    /** 0: there is none. */
    uint64_t id;
    rm_turn turn;
    /** What is sent until the answer comes: RM_PEER_ASKED or RM_PEER_PROPOSED; RM_PEER_AGREED: it is agreed;
     * RM_PEER_REFUSED, `reason` says why. */
    uint8_t phase;
    uint64_t begun_ns, sent_ns;
    char reason[RM_PEER_REASON_BYTES];
};

struct rm_peer_link {
    struct rm_peer_setup setup;
    struct rm_peer_session session;
    struct rm_peer_emitter emitter;
    uint8_t digest[RM_PEER_DIGEST_BYTES];
    uint64_t counter[RM_LINK_COUNTERS];

    /* The own server. */
    struct rm_standby_state_reading state;
    struct rm_peer_application application[RM_PEER_APPLICATIONS];
    uint64_t told_ns;
    rm_turn told_turn;

    /* The peer. */
    enum rm_peer_relation relation;
    /** Version of the protocol that both speak. */
    uint8_t version;
    /** There is an own server. */
    bool has_server;
    /** An operator's: the own server neither sends nor takes over. */
    bool hold;
    struct rm_peer_hello hello;
    struct rm_peer_status status;
    /** When anything came last, and a STATUS, and one that said ACTIVE; 0: never. */
    uint64_t heard_ns, status_ns, active_ns;
    uint64_t greeted_ns;
    /** How often another one with the key asked to join while the peer was there, and when it did last. One that was
     * started anew does so a few times; a third server does not end. */
    uint64_t thirds, third_ns;
    uint64_t round_trip_ns;
    char difference[RM_PEER_WHY_BYTES];

    /* As the active server. */
    struct rm_peer_vector_out vector_out[RM_PEER_VECTORS];
    rm_turn vector_turn[RM_PEER_VECTORS];
    double *values;
    rm_turn cursor[RM_PEER_APPLICATIONS];
    /** It is to go on behind what the peer has. */
    bool fresh[RM_PEER_APPLICATIONS];
    uint32_t beginning[RM_PEER_APPLICATIONS];
    struct rm_peer_copy_out state_out[RM_PEER_APPLICATIONS], lines_out;
    uint64_t asked_state_ns[RM_PEER_APPLICATIONS];
    struct rm_peer_records *records;

    /* As the standby. */
    struct rm_peer_vector_in vector_in[RM_PEER_VECTORS];
    rm_turn vector_in_turn[RM_PEER_VECTORS];
    /** By which the newest setpoints were older than the own server's newest cycle when they came. */
    rm_turn late_turns;
    struct rm_peer_steps_in *steps_in[RM_PEER_APPLICATIONS];
    uint64_t repeat_ns[RM_PEER_APPLICATIONS];
    rm_turn repeat_after[RM_PEER_APPLICATIONS];
    /** When nothing was missing last that was lost on its way. */
    uint64_t complete_ns;
    /** The copy that is under way: of which application, from which turn on, and when something was done for it. */
    struct rm_peer_copy_in copy;
    uint32_t copying;
    rm_turn copy_turn;
    uint64_t copy_begun_ns, copy_ns;
    uint32_t copy_asked;
    /** Until then an application is given time to follow from its copy. */
    uint64_t settles_ns[RM_PEER_APPLICATIONS];

    struct rm_peer_planned planned;

    /** Take-overs that operators have acknowledged. */
    uint64_t acknowledged;

    /** For the own server. */
    struct rm_standby_orders_reading orders;
};

/** False without memory. rm_peer_link_free gives back what there is. */
bool rm_peer_link_make(struct rm_peer_link *link, struct rm_peer_setup const *setup);
void rm_peer_link_free(struct rm_peer_link *link);

/** Takes a datagram of any content. */
void rm_peer_link_receive(struct rm_peer_link *link, uint8_t const *bytes, size_t size, uint64_t now_ns);

/** Does what is due. */
void rm_peer_link_tick(struct rm_peer_link *link, uint64_t now_ns);

/** Records of an application are here up to this turn, from an earlier life of this process. */
void rm_peer_link_has(struct rm_peer_link *link, uint32_t application, rm_turn turn);

/** The own segment was made anew: what was in it comes again. */
void rm_peer_link_renew(struct rm_peer_link *link);

/** This process ends: the peer is told. */
void rm_peer_link_bye(struct rm_peer_link *link);

/** Plans a switch at `turn`; 0: as soon as it can be agreed. NULL, or why it cannot be. What comes of it is in
 * link->planned.phase: agreed, refused, or still under way. */
char const *rm_peer_link_switch(struct rm_peer_link *link, rm_turn turn, uint64_t now_ns);

/** True while the peer's words are young: anything, or a STATUS. */
bool rm_peer_link_hears(struct rm_peer_link const *link, uint64_t now_ns);

/** The peer's role as told; −1: not heard, or it has no server. */
int rm_peer_link_role(struct rm_peer_link const *link, uint64_t now_ns);

/** Cycles by which the newest vector of the peer that is here is behind the own server's newest cycle. */
uint64_t rm_peer_link_lag(struct rm_peer_link const *link);

/** Says why there is no standby that could take over, or "" where there is one. */
void rm_peer_link_why(struct rm_peer_link const *link, uint64_t now_ns, char text[RM_PEER_WHY_BYTES]);

#endif
