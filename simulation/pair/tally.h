// SPDX-License-Identifier: Apache-2.0
/** What a pair's run came to: swaps by what chains obeyed, and by what the servers took themselves for.
 *
 * A *swap* is told by the chains alone: a term of another server is obeyed by a majority. Its length is the time from
 * the newest datagram of older terms that any chain had obeyed to the first of the new one. */
#ifndef RM_SIMULATION_PAIR_TALLY_H
#define RM_SIMULATION_PAIR_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "faults.h"
#include "network.h"
#include "standby/standby.h"

/** How a server came to send. */
enum rm_pair_swap_kind {
    /** The standby saw N cycles missed. */
    RM_PAIR_TAKEN_OVER,
    /** The same, but by a standby that was not fit all the while: it was not READY, did not hear its instruments, or
     * could not reach a majority of chains that obey. */
    RM_PAIR_TAKEN_LATE,
    /** At an agreed turn. */
    RM_PAIR_SWITCHED,
    /** Nobody was there that knew all: it began anew. */
    RM_PAIR_BEGUN,
    RM_PAIR_SWAP_KINDS,
};

/** Lengths of swaps, in hundredths of a cycle. */
struct rm_pair_lengths {
    uint32_t *value;
    uint32_t count, space;
};

/** What a chain obeyed last. */
struct rm_pair_obeyed {
    uint64_t time_ns;
    /** End of the newest gap of more than N cycles; 0: there was none. */
    uint64_t gap_ns;
    rm_turn turn;
    uint32_t term;
};

struct rm_pair_tally {
    uint32_t chains, missed_cycles;
    uint64_t period_turns;
    double period_ns;
    struct rm_pair_obeyed last[RM_PAIR_CHAINS_MAX];
    /** [server] its last change of role to ACTIVE. */
    enum rm_pair_swap_kind began[RM_PAIR_SERVERS];
    /** [server] since when it is fit to take over; UINT64_MAX: it is not. */
    uint64_t fit_ns[RM_PAIR_SERVERS];

    /** The newest term that a majority obeyed. */
    uint32_t good_term;

    /* The highest term that any chain obeyed. */
    uint32_t term;
    /** First datagram of it; the newest of older ones before it; the newest of older ones at all. */
    uint64_t first_ns, before_ns, older_ns;
    /** Chains that obeyed it; those that were silent for no more than N cycles before. */
    uint32_t with, unsilent;
    bool is_swap, confirmed;

    /* What it came to. */
    struct rm_pair_lengths length[RM_PAIR_SWAP_KINDS];
    /** [fault] take-overs after a fault of this kind alone; the last: after two at once. */
    struct rm_pair_lengths after[RM_PAIR_FAULT_KINDS + 1];
    /** Index there of what befell last. */
    uint32_t befell;
    uint64_t obeyed;
    uint64_t planned_missing, planned_duplicate, false_swaps;
    /** Times that a chain's readback led its setpoints: what had been sent last was not known, or too far from it. */
    uint64_t led;
    /** Terms that the same server raised. */
    uint64_t raised;
    /** RMS of the beam's position, in nm: the largest within 200 cycles behind a swap; of all other cycles of which a
     * server sends, the largest and the mean. */
    double orbit_swap_nm, orbit_quiet_nm, orbit_sum_nm;
    uint64_t orbits;
    /** The newest swap. */
    uint64_t swap_ns;
};

/** A chain obeyed a setpoint datagram. RM_E_NO_SPACE. */
bool rm_pair_tally_obeyed(struct rm_pair_tally *tally, uint32_t chain, uint64_t now_ns, uint32_t term, rm_turn turn);

/** A server is fit to take over, or is not. */
void rm_pair_tally_fit(struct rm_pair_tally *tally, uint32_t server, uint64_t now_ns, bool fit);

/** RMS of the beam's position over the instruments, in a cycle. */
void rm_pair_tally_orbit(struct rm_pair_tally *tally, uint64_t now_ns, double orbit_nm);

/** A server had `role` before its cycle, and has decided. */
void rm_pair_tally_role(struct rm_pair_tally *tally, uint32_t server, enum rm_standby_role role,
                        struct rm_standby const *standby);

/** The longest, and the middle one; sorts them. 0 where there are none. */
double rm_pair_lengths_max(struct rm_pair_lengths *lengths);
double rm_pair_lengths_median(struct rm_pair_lengths *lengths);

void rm_pair_tally_free(struct rm_pair_tally *tally);

#endif
