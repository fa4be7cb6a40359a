// SPDX-License-Identifier: Apache-2.0
/** The transmit role: setpoint vectors in, datagrams to daisy chains out, with the guard between.
 *
 *     applications' vectors ─copy─▶ guard ─▶ one setpoint per supply ─▶ one datagram per chain ─▶ ports
 *     chains' readbacks (instrument streams) ─▶ what each supply does ─▶ guard, chain counters, supply/state
 *
 * A cycle has the turn T, a multiple of the setpoints' period, and goes out when the turn clock stands at
 * T + phase; or at once when the leading application commits its vector for it. It may lead from a quarter of a period
 * before T on; what it commits earlier came too late for the cycle before, and goes with this one in its time. The
 * clock is the published one (clock.h), copied once per cycle; where no instrument tells the turn, TAI does, and this
 * role publishes it. A role that comes a whole period too late skips the cycle and counts it: supplies get no two
 * cycles' steps at once. So does one whose clock was stepped, or began a new turn-counter epoch: it goes on with the
 * next cycle by the new time.
 *
 * Nor does the leader's vector send a cycle sooner than half a period after the cycle before. What the link does not
 * take at once is offered again until the next cycle; what is left then is counted, and its chain catches up by one
 * slew a cycle from what it was sent last.
 *
 * A chain joins: until it has answered, it gets queries and no setpoint. Then its supplies begin where they stand: at
 * what this server's last life sent, where the readback agrees with that within the tolerance, else at the readback.
 * Where the last life was killed between intending a datagram and noting that the port has it (intended.h), the
 * readback decides between that datagram and the one before.
 * A chain that is lost (it has not answered for `lost_cycles`) joins again when it answers. One without readback begins
 * at what was sent last, or at its safe values. "setpoints/sent" has NaN for a supply whose setpoint is not known yet.
 *
 * ## Terms
 * Each setpoint datagram carries a term and the number of this life (docs/setpoint-format.md). The term is above every
 * one that this server knows of: from its last life (intended.h), the file of the highest term, and the answers of
 * chains. A chain that refuses a datagram, or has just been switched on, was not moved by it: it joins anew, by queries.
 * A server that is alone goes beyond the term of another one when the chain has obeyed nobody for as long as its answer
 * can tell, and not before: two such servers would use up all terms.
 *
 * ## One of two servers
 * With `pair` the role asks src/standby once per cycle whether it may send, and publishes what it is (standby.h). While
 * it may not, it does all else: it takes its applications' vectors, counts their watchdogs, hears the chains' answers,
 * whichever server they are to, and follows the setpoints that the other server sent. Such cycles are due a quarter of a
 * period later, so that whole cycles have passed when it asks the chains. When it begins to send, its setpoints go on
 * from the other server's last ones:
 *
 *     newest setpoints of the other server that are here, and the newest that a chain obeyed
 *     of one cycle                   the next step begins there
 *     one cycle apart                the first cycle repeats what is here: within one slew of what was sent
 *     more than one cycle apart      the readback decides, as for a chain that joins
 *
 * The control thread says which application has which memory (control_thread.h), through a mailbox of one entry per
 * application: this role never waits for it.
 */
#ifndef RM_ENGINE_TRANSMIT_H
#define RM_ENGINE_TRANSMIT_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/clock.h>
#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/grant.h>
#include <ringmaster/histogram.h>
#include <ringmaster/intended.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/stream.h>
#include <ringmaster/supply.h>

#include "base/mailbox.h"
#include "config/config.h"
#include "engine/guard.h"
#include "net/port.h"

struct rm_transmit;

/** Where one application's vectors come from, as the control thread tells it through a mailbox. When the role has freed
 * the mailbox, it uses nothing of an earlier command, whose memory can be unmapped. */
struct rm_transmit_command {
    /** NULL: there is no application. */
    struct rm_setpoints const *setpoints;
    /** Bytes of a vector, checked. */
    uint64_t vector_bytes;
    /** The number that was granted; 0: none. */
    uint64_t grant_number;

    uint64_t instance;
    uint64_t pid;
    /** Its process ended without closing its segment. */
    bool died;
};

/** A command on its way. The role frees the mailbox without an answer. */
struct rm_command_mailbox {
    _Alignas(RM_CACHE_LINE) struct rm_mailbox mailbox;
    struct rm_transmit_command command;
};

/** What is here of the other server, as the control thread found and checked it; NULL: it is not there. */
struct rm_transmit_peer {
    /** "standby/orders". */
    struct rm_standby_orders const *orders;
    /** "peer/setpoints/sent" and "peer/setpoints/targets", each with a value for every supply. */
    struct rm_setpoints const *sent, *targets;
};

/** That on its way, as rm_command_mailbox: the role frees it, and uses nothing of an earlier one then. */
struct rm_peer_mailbox {
    _Alignas(RM_CACHE_LINE) struct rm_mailbox mailbox;
    struct rm_transmit_peer peer;
};

/** What a role needs that is one of two. */
struct rm_transmit_pair {
    /** 1 or 2: place in the configuration's list. */
    uint32_t server;
    /** As in struct rm_standby_setup. */
    uint32_t missed_cycles, begin_cycles;
    /** "standby/state"; at the start it contains what the last life left. */
    struct rm_standby_state *state;
    /** "setpoints/targets". */
    struct rm_setpoints *targets;
    /** Counters of the set "standby". */
    rm_counter *counters;
};

/** One setpoint commanded by the operator, from the control thread. A command that the role did not take in time is
 * withdrawn, so that what was reported as not done is never done later. */
struct rm_operator_put {
    _Alignas(RM_CACHE_LINE) struct rm_mailbox mailbox;
    uint32_t supply;
    double value;
    /** The answer, with `limit`. */
    enum rm_refusal refusal;
    double limit;
};

/** A chain with its port, and the streams that its answers come by. */
struct rm_transmit_chain {
    struct rm_config_chain const *config;
    struct rm_port *port;
    uint16_t queue;
    /** Source address and UDP port of our datagrams. */
    uint32_t source_ipv4, source_port;

    uint8_t source_mac[6];
    /** 1–4094, or 0 for untagged frames. */
    uint16_t vlan;
    /** As many views as config->instrument_count needs. */
    struct rm_stream_view readback[RM_CHAIN_ID_PARTS];
    /** Counters of the set "chain". */
    rm_counter *counters;
};

struct rm_transmit_setup {
    struct rm_config const *config;
    double tsc_hz;
    /** Generation of this server: TAI nanoseconds at its start, so that it grows from life to life. */
    uint64_t generation;
    /** Highest term that is known from the disk; 0: none. */
    uint32_t term;
    /** Number of this life, as its datagrams carry it: at random, and not 0. */
    uint32_t instance;
    /** NULL: this server is alone. */
    struct rm_transmit_pair const *pair;
    /** Published by a receive role; NULL: no instrument tells the turn. */
    struct rm_clock const *clock;
    /** Where `clock` is NULL: the clock in which turns by TAI are published; or NULL. */
    struct rm_clock *publish;
    /** [chain]; copied. */
    struct rm_transmit_chain const *chain;
    /** [application]. */
    struct rm_grant **grant;
    /** [application] counters of the set "guard". */
    rm_counter **guard_counters;
    /** Counters of the set "transmit". */
    rm_counter *counters;
    /** "setpoints/sent". */
    struct rm_setpoints *sent;
    /** "setpoints/intended", [chain]; at the start it contains the last life's setpoints. */
    struct rm_intended *intended;
    /** "supply/state". */
    struct rm_parameter *supply_state;
    /** TSC ticks from the commit of a vector until its first datagram is handed to a port. */
    struct rm_histogram *latency;
};

/** RM_E_CONFIG where the last term was used up, RM_E_NO_SPACE. */
enum rm_code rm_transmit_new(struct rm_transmit_setup const *setup, struct rm_transmit **transmit,
                             struct rm_error *error);
void rm_transmit_free(struct rm_transmit *transmit);

/** The mailbox of an application. */
struct rm_command_mailbox *rm_transmit_mailbox(struct rm_transmit *transmit, uint32_t application);
struct rm_operator_put *rm_transmit_put(struct rm_transmit *transmit);

/** The mailbox of what is here of the other server; NULL where this one is alone. */
struct rm_peer_mailbox *rm_transmit_peer_mailbox(struct rm_transmit *transmit);

/** The highest term that this server has used or heard of. Any thread may read it, as long as the role is there. */
_Atomic uint32_t const *rm_transmit_highest_term(struct rm_transmit const *transmit);

/** One turn of the duty cycle: looks at commands and at the leading vector, sends a cycle when it is due. Returns the
 * datagrams sent. */
uint32_t rm_transmit_duty(void *transmit, uint64_t tsc);

#endif
