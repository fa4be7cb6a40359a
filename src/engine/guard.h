// SPDX-License-Identifier: Apache-2.0
/** The guard: stands between what applications want and what supplies get.
 *
 * All of it is private memory of the transmit role. It is given a vector that was copied already, judges it, and keeps
 * a target for every supply. Once a cycle each supply's setpoint goes a step towards its target, by its slew at most.
 * Only that is ever sent. So whatever a vector contains, and however often vectors come:
 *
 *   - no setpoint leaves [low, high];
 *   - none moves by more than its slew from one cycle to the next;
 *   - none moves for a vector of another grant number, of a turn too old or not yet been, or of a value that is no
 *     number;
 *   - none moves for an application that does not own it;
 *   - when good vectors stop, the configured action follows within `watchdog_cycles`, and lasts until a good vector
 *     comes.
 *
 * Exactly: in double a step goes no further than the double nearest to setpoint ± slew; as sent, in f32, steps are no
 * longer than the slew and one unit in the last place of the f32 of the larger magnitude, half of it from each end.
 * Limits have no such margin, in neither.
 *
 * A vector is refused whole for its grant number or its turn, or value by value. Values that are refused leave their
 * supply's target as it was; those beside them in the vector are taken. A vector is *good*, a sign of life, when it is
 * not refused whole and at least one of its values is within its supply's limits. Supplies that are tripped or lost are
 * not its application's fault, but one that writes nothing but nonsense counts as stopped. Every refusal is counted
 * under its reason, and the last refusal of each application is kept.
 *
 * Nothing here is atomic or shared: what others may see, the role publishes (grant.h).
 *
 * Supplies are numbered as in the configuration: chain by chain, as they stand in the chain. Units are each supply's.
 */
#ifndef RM_ENGINE_GUARD_H
#define RM_ENGINE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counters.h>
#include <ringmaster/error.h>
#include <ringmaster/grant.h>
#include <ringmaster/record.h>
#include <ringmaster/setpoint.h>

/** What one supply may do. All numbers are finite and fit an f32; between the limits lies one f32 at least. */
struct rm_guard_supply {
    /** low ≤ safe ≤ high. */
    double low, high;
    /** Largest step per cycle; large enough that a setpoint at its limits moves by it. */
    double slew;

    double safe;
    /** Largest step per cycle on the way to `safe`. */
    double safe_slew;
};

/** What one application may do. Number 0 is the operator, which has no watchdog, grant number, turn or vectors: these
 * members are ignored for it. A supply that no application owns does not move. */
struct rm_guard_application {
    uint32_t supply_count;
    /** [value of its vector] supply; each supply belongs to one application. */
    uint32_t const *supply;

    uint64_t freshness_turns;
    /** Turns by which an input turn may be ahead of the cycle's. */
    uint64_t future_turns;
    /** Counted in periods of the application, ≥ 1, not in cycles of the guard: after so many without a good vector it
     * has stopped. */
    uint32_t watchdog_cycles;
    /** Cycles of the guard in one of its periods, ≥ 1. */
    uint32_t period_cycles;
    /** Cycles of the guard: an application that had a grant for so long without any good vector has stalled; 0: never.
     */
    uint64_t first_vector_cycles;

    enum rm_stop_action stop;
};

/** The newest refusal, as struct rm_offence has it; of several in one vector the last, and a shortened step only where
 * nothing in its vector was refused.
 *
 *     refusal            value               limit
 *     GRANT              the vector's        the granted one
 *     STALE, FUTURE      its input turn      the oldest, or the newest, that would have been taken
 *     NUMBER             as it came          0
 *     LOW, HIGH          as it came          the supply's
 *     SLEW               as it came          as far as it may go in this cycle
 *     OWNERSHIP          as it came          number of the application that owns the supply; -1: none
 *     FAULT              as it came          where the supply stays */
struct rm_guard_offence {
    enum rm_refusal refusal;
    /** Index in the vector; UINT64_MAX: the whole vector. For the operator: the supply. */
    uint64_t actuator;

    double value, limit;
    /** Turn of the cycle. */
    rm_turn turn;
    /** Number of the vector; UINT64_MAX for the operator, which has none. */
    uint64_t vector;
};

enum { RM_REFUSALS = 10 };

/** What is seen of an application. */
struct rm_application_view {
    enum rm_application_state state;
    /** Good vectors; for the operator, values taken. */
    uint64_t vectors;
    /** [reason] a vector refused whole counts once; refused values count one by one. */
    uint64_t refused[RM_REFUSALS];

    uint64_t stalls;
    struct rm_guard_offence offence;
};

struct rm_guard;

/** Makes a guard; all arguments are copied. Every supply must join first (rm_guard_join): until then its setpoint is
 * its safe value, and must not be sent. RM_E_ARGUMENT, RM_E_NO_SPACE. */
enum rm_code rm_guard_new(struct rm_guard_supply const *supply, uint32_t supply_count,
                          struct rm_guard_application const *application, uint32_t application_count,
                          struct rm_guard **guard, struct rm_error *error);
void rm_guard_free(struct rm_guard *guard);

/** The supply stands at `value`: setpoint and target become that value, brought within its limits. A value that is not
 * a number is ignored. A supply whose application has stopped goes on from there as the stop's action says. */
void rm_guard_join(struct rm_guard *guard, uint32_t supply, double value);

/** Another server sent the supply `value` last: the setpoint becomes that, brought within its limits. The target of an
 * application that runs stays, and so does the operator's; any other follows. So a server that takes over goes on from
 * what was sent, towards what its own applications want. A value that is not a number, and a supply that has not joined,
 * are left as they are. */
void rm_guard_follow(struct rm_guard *guard, uint32_t supply, double value);

/** With `faulty`, the supply does not obey (tripped, lost): it stays where it is, and values for it are refused.
 * Without, it obeys again; where its application has stopped, the stop's action goes on. */
void rm_guard_fault(struct rm_guard *guard, uint32_t supply, bool faulty);

/** From now on vectors of this grant number count, and no others. 0: none. Targets become what was sent, so nothing
 * moves for an earlier vector. The state is JOINED; with 0 it is ABSENT or DEAD, by `died`. A stop's action follows
 * DEAD at once, and ABSENT too: an application that ends in good order has stopped. One that was never granted anything
 * has not stopped: its supplies stay where they joined.
 *
 * A grant in the midst of a stop's action only pauses it, so that the new instance begins where the supplies stand: if
 * it sends no good vector within its watchdog's time, the action goes on, and the state stays JOINED. That state ends
 * after `first_vector_cycles`: an application that hangs in `init` or in its first step is STALLED. Nothing follows for
 * its supplies, which it has not moved. */
void rm_guard_grant(struct rm_guard *guard, uint32_t application, uint64_t grant_number, bool died);

/** Judges a vector for the cycle of `turn`. True when it is good. The first good vector ends a stop's action, for all
 * of the application's supplies: those whose values it refuses stay where they are. A second vector in one cycle
 * replaces the first one's targets; the slew is that of one cycle all the same. A step that is too long for a cycle
 * counts under RM_REFUSED_SLEW each time, and its value is the target all the same. */
bool rm_guard_vector(struct rm_guard *guard, uint32_t application, struct rm_setpoint_reading const *vector,
                     double const *values, rm_turn turn);

/** One value by the operator, lasting: the supply goes there by its slew. Refused by the rules of values, or of
 * ownership; `limit` as in the offence. */
enum rm_refusal rm_guard_put(struct rm_guard *guard, uint32_t supply, double value, rm_turn turn, double *limit);

/** Ends a cycle: watchdogs count, and every setpoint makes its step for the next cycle. Call it once per cycle that is
 * sent, before it is sent; a second call for the same turn does nothing. It is rm_guard_begin, and rm_guard_advance to
 * the end. */
void rm_guard_cycle(struct rm_guard *guard, rm_turn turn);

/** The same in pieces, so that the first chain can be sent before the last one is computed. rm_guard_begin counts the
 * watchdogs. rm_guard_advance moves the supplies before `end` that have not made their step in this cycle. Supplies
 * that are left out stay where they are. */
void rm_guard_begin(struct rm_guard *guard, rm_turn turn);
void rm_guard_advance(struct rm_guard *guard, uint32_t end);

/** What to send: one per supply, valid until the next rm_guard_cycle. f32 as on the wire, rounded towards the inside of
 * the limits. */
float const *rm_guard_setpoints(struct rm_guard const *guard);

/** The same in double, before rounding. */
double const *rm_guard_exact(struct rm_guard const *guard);

/** Targets: one per supply. A supply that has arrived has its setpoint as target. */
double const *rm_guard_targets(struct rm_guard const *guard);

/** True while the setpoint is not at its target. */
bool rm_guard_slewing(struct rm_guard const *guard, uint32_t supply);

/** True from when the application stopped until its next good vector, a pause by a new grant included: its supplies are
 * held, or on their way to their safe values. */
bool rm_guard_stopped(struct rm_guard const *guard, uint32_t application);

struct rm_application_view const *rm_guard_view(struct rm_guard const *guard, uint32_t application);

#endif
