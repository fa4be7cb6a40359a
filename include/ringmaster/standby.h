// SPDX-License-Identifier: Apache-2.0
/** Two servers, one machine: who of the two sends setpoints, and what the other one is told.
 *
 *     server a (active)                                        server b (standby)
 *     transmit role ──setpoints, term 5──▶ chains ──answers──▶ both servers
 *     standby/state, decisions, setpoints/sent ─▶ ringmaster-standby ═link═ ringmaster-standby ─▶ peer/…, standby/orders
 *
 * Both servers have one configuration (section `standby`, docs/standby.md), hear all instruments and all chains, and
 * step all applications. One of them sends. Beside each server runs the process `ringmaster-standby`, which is an owner
 * of its own in the server's workspace; the two processes talk over the link.
 *
 * | object                        | segment  | written by              | what                                     |
 * |-------------------------------|----------|-------------------------|------------------------------------------|
 * | `standby/state`               | server   | its transmit role       | struct rm_standby_state: who it is now   |
 * | `standby/orders`              | standby  | `ringmaster-standby`    | struct rm_standby_orders: what it may do |
 * | `peer/setpoints/sent`         | standby  | `ringmaster-standby`    | the peer's `setpoints/sent`              |
 * | `peer/setpoints/targets`      | standby  | `ringmaster-standby`    | where the peer's supplies go             |
 * | `stream/peer/NAME/decision` … | standby  | `ringmaster-standby`    | the peer's decision records (decision.h) |
 *
 * ## Terms
 * Each time that a server begins to send, it does so under a *term*: a number above all that it knows of, odd for
 * server 1 and even for server 2. So two servers never have the same term. A chain obeys the highest term that it has
 * seen (docs/setpoint-format.md).
 *
 * ## Memory ordering
 * Both structs have a sequence lock as of clock.h: a reader's acquire load of an even `sequence` pairs with the release
 * store that ends a change, its acquire fence behind the copy with the release fence that begins one.
 * rm_standby_state_look and rm_standby_orders_look do so.
 */
#ifndef RINGMASTER_STANDBY_H
#define RINGMASTER_STANDBY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

enum {
    /** The highest term: no server goes beyond (docs/standby.md says how terms are reset). */
    RM_TERM_MAX = 65535,
    /** From here on a server says that terms come to their end. */
    RM_TERM_WARNS = 60000,
};

/** What a server is to the machine. */
enum rm_standby_role {
    /** An operator holds it: it neither sends nor takes over. */
    RM_STANDBY_MAINTENANCE = 0,
    /** It hears and steps, but does not know all that the active server knows. */
    RM_STANDBY_JOINING = 1,
    /** It can go on in the active server's place, to the bit. */
    RM_STANDBY_READY = 2,
    /** It sends. */
    RM_STANDBY_ACTIVE = 3,
    /** It cannot be any of these: `why` says so. */
    RM_STANDBY_FAULT = 4,
};

/** Why the role is what it is: what happened last. */
enum rm_standby_reason {
    RM_STANDBY_STARTED = 0,
    /** Chains stood without any server, and this one began (feedback off). */
    RM_STANDBY_BEGAN = 1,
    /** The active server was silent, as a majority of chains said; this one took over. */
    RM_STANDBY_TOOK_OVER = 2,
    /** A planned switch. */
    RM_STANDBY_SWITCHED = 3,
    /** A majority of chains obeys a higher term. */
    RM_STANDBY_DEPOSED = 4,
    /** A majority of chains did not answer, or it slept. In the role ACTIVE: and then went on, for nobody else had. */
    RM_STANDBY_UNANSWERED = 5,
    /** The link brings nothing any more. */
    RM_STANDBY_LINK_LOST = 6,
    /** What the active server knows was copied. */
    RM_STANDBY_COPIED = 7,
    /** A record or an input is missing that the active server had, or a step came to other bits. */
    RM_STANDBY_DIFFERS = 8,
    /** An operator's command. */
    RM_STANDBY_HELD = 9,
    /** The peer has another configuration or version, or is the same server. */
    RM_STANDBY_REFUSED = 10,
    /** Terms are at their end. */
    RM_STANDBY_NO_TERM = 11,
    /** Its instruments do not arrive. */
    RM_STANDBY_DEAF = 12,
};

/** What a server's transmit role says of itself, once per cycle: object "standby/state". */
struct rm_standby_state {
    /* Constant since the segment was finished. */

    /** 1 or 2: place in the configuration's list. */
    uint64_t server;
    /** Chains that vote, and how many are a majority. */
    uint64_t chains, majority;
    /** Cycles without setpoints after which the standby may ask, and turns of a cycle. */
    uint64_t missed_cycles, period_turns;

    uint64_t reserved[3];

    /* Written by the transmit role. */

    /** Odd while the members below change. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** enum rm_standby_role, enum rm_standby_reason. */
    _Atomic uint64_t role, reason;
    /** Own term, 0 before the first; the highest known of all. */
    _Atomic uint64_t term, highest_term;
    /** Turn of the newest cycle, and the turn with which the role began. */
    _Atomic uint64_t turn, since_turn;
    /** Number of this life of the server, as its datagrams carry it. */
    _Atomic uint64_t instance;
    /** Chains that answered this server's term within `missed_cycles`. */
    _Atomic uint64_t with_us;
    /** An automatic take-over has happened that no operator has acknowledged. */
    _Atomic uint64_t unacknowledged;
    /** Of the newest take-over: cycles from the last obeyed setpoint of the other server, as chains told, to the first
     * of this one; UINT64_MAX: there was none. */
    _Atomic uint64_t swap_cycles;
    /** A planned switch that is to come: its turn; RM_TURN_NONE: none. */
    _Atomic uint64_t switch_turn;
    /** TAI of the last change of role. */
    _Atomic uint64_t since_tai_ns;

    _Atomic uint64_t reserved_too[3];
};

/** What `ringmaster-standby` tells its server's transmit role: object "standby/orders". */
struct rm_standby_orders {
    /** Odd while the members below change. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** Everything of the active server is here: guard, applications, settings, up to `synchronised_turn`. */
    _Atomic uint64_t synchronised;
    _Atomic uint64_t synchronised_turn;
    /** An operator's hold: the role is MAINTENANCE. */
    _Atomic uint64_t hold;
    /** Automatic take-overs acknowledged so far: a number that grows. */
    _Atomic uint64_t acknowledged;
    /** A planned switch at this turn, agreed with the peer; RM_TURN_NONE: none. */
    _Atomic uint64_t switch_turn;
    /** The peer as the link tells: enum rm_standby_role + 1 (0: not heard), its term, its newest cycle. */
    _Atomic uint64_t peer_role, peer_term, peer_turn;
    /** The peer cannot be one: another configuration, the same server. The role is FAULT. */
    _Atomic uint64_t refused;
    /** The peer has an unacknowledged automatic take-over. */
    _Atomic uint64_t peer_unacknowledged;
    /** Counts up while the process lives: one that stands tells that it hangs. */
    _Atomic uint64_t beat;
    /** The peer is another build: the two swap by a planned switch alone. */
    _Atomic uint64_t planned_only;

    _Atomic uint64_t reserved[3];
};

/** Consistent copies in private memory; members as above, but for those that are constant. */
struct rm_standby_state_reading {
    enum rm_standby_role role;
    enum rm_standby_reason reason;
    uint64_t term, highest_term;
    rm_turn turn, since_turn;
    uint64_t instance, with_us;
    bool unacknowledged;
    uint64_t swap_cycles;
    rm_turn switch_turn;
    uint64_t since_tai_ns;
};

struct rm_standby_orders_reading {
    bool synchronised, hold, refused, peer_unacknowledged;
    rm_turn synchronised_turn;
    uint64_t acknowledged;
    rm_turn switch_turn;
    /** enum rm_standby_role + 1; 0: not heard. */
    uint64_t peer_role;
    uint64_t peer_term;
    rm_turn peer_turn;
    uint64_t beat;
    bool planned_only;
};

/** Take one look. False while the writer is inside: look again. False, too, where nothing was written yet. */
bool rm_standby_state_look(struct rm_standby_state const *state, struct rm_standby_state_reading *reading);
bool rm_standby_orders_look(struct rm_standby_orders const *orders, struct rm_standby_orders_reading *reading);

#endif
