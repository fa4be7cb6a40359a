// SPDX-License-Identifier: Apache-2.0
/* The term of our setpoints: above all that this server knows of. */
#include "engine/transmit_state.h"

#include "base/fail.h"

enum { ALONE = 1 }; /**< a server without a peer takes the terms of server 1 */

_Atomic uint32_t const *rm_transmit_highest_term(struct rm_transmit const *transmit) { return &transmit->highest_term; }

static uint32_t highest_term(struct rm_transmit const *transmit) {
    return atomic_load_explicit(&transmit->highest_term, memory_order_relaxed);
}

void rm_transmit_note_highest(struct rm_transmit *transmit, uint32_t term) {
    if (term > highest_term(transmit))
        atomic_store_explicit(&transmit->highest_term, term, memory_order_relaxed);
}

/** Where a server is killed, its successor knows every term under which a datagram can have been sent. */
void rm_transmit_take_term(struct rm_transmit *transmit, uint32_t term) {
    if (term == transmit->term)
        return;
    for (uint32_t c = 0; c < transmit->chain_count; ++c)
        atomic_store_explicit(&transmit->link[c].intended->term, term, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* before the first datagram of the term is with a port */
    transmit->term = (uint16_t)term;
    rm_transmit_note_highest(transmit, term);
}

enum rm_code rm_transmit_find_term(struct rm_transmit *transmit, struct rm_error *error) {
    rm_transmit_note_highest(transmit, transmit->setup.term);
    for (uint32_t c = 0; c < transmit->chain_count; ++c) {
        uint64_t const last = atomic_load_explicit(&transmit->link[c].intended->term, memory_order_relaxed);
        rm_transmit_note_highest(transmit, last <= RM_TERM_MAX ? (uint32_t)last : 0);
    }
    if (transmit->setup.pair != NULL)
        return RM_OK; /* src/standby takes it */
    uint32_t const highest = highest_term(transmit);
    uint32_t const own = rm_standby_next_term(ALONE, highest);
    if (own == 0)
        return rm_fail(
            error, RM_E_CONFIG,
            "setpoints: found the highest term used to be %u, expected one below %d, which is the last: no "
            "chain would obey this server; switch all chains off and on, remove the file of setpoints.terms, "
            "and make the workspace anew (`ringmaster clean`)",
            highest, RM_TERM_MAX);
    rm_transmit_take_term(transmit, own);
    return RM_OK;
}

void rm_transmit_raise_term(struct rm_transmit *transmit, uint32_t told) {
    uint32_t const own = rm_standby_next_term(ALONE, told);
    rm_transmit_note_highest(transmit, told);
    if (transmit->setup.pair == NULL && own != 0)
        rm_transmit_take_term(transmit, own);
}
