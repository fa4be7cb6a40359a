// SPDX-License-Identifier: Apache-2.0
/** When a sender's groups left, link by link: the sender's own unevenness, to be told from that of link and receiver.
 * A cycle that was left out because the pace could not be held has no datagrams; one of which some were dropped on
 * purpose has them all. */
#ifndef RM_BENCH_WIRE_DEPARTURES_H
#define RM_BENCH_WIRE_DEPARTURES_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "cycles.h"
#include "link_endpoint.h"

struct rm_departures {
    /** File to be written; NULL: none. */
    char const *path;

    uint32_t links;
    struct rm_cycles of_link[RM_LINKS_MAX];
};

/** Makes room for so many cycles, or for none where `path` is NULL. RM_E_NO_SPACE: there is not so much memory. */
enum rm_code rm_departures_new(struct rm_departures *departures, char const *path, uint32_t links, uint64_t cycles,
                               struct rm_error *error);

/** Writes the rows of the first `cycles` cycles to the file. RM_E_SYSTEM with the reason. */
enum rm_code rm_departures_write(struct rm_departures const *departures, uint64_t cycles, struct rm_error *error);

void rm_departures_free(struct rm_departures *departures);

#endif
