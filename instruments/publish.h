// SPDX-License-Identifier: Apache-2.0
/** What a virtual ring tells of itself: a segment of its own (owner "ring") beside the server's in the workspace, with
 * counters/sender/NAME per instrument and the parameters ring/turn_rate_hz, ring/tune_x, ring/tune_y. Without a
 * workspace the same counters lie in private memory. */
#ifndef RM_INSTRUMENTS_PUBLISH_H
#define RM_INSTRUMENTS_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>
#include <ringmaster/error.h>

#include "fabric/segment_file.h"
#include "motion.h"
#include "virtual_instrument.h"

struct rm_publication {
    rm_counter **counters; /**< per instrument its block, set `sender` */
    uint32_t count;
    bool shared;
    void *private_counters;
    struct rm_segment_plan plan;
    struct rm_segment segment;
};

/** Opens with all counters at 0. `workspace` may be empty; `beam` is NULL where nobody knows it (a replay). */
enum rm_code rm_publication_open(char const *workspace, struct rm_virtual_instrument const *instruments, uint32_t count,
                                 double turn_rate_hz, struct rm_beam_config const *beam,
                                 struct rm_publication *publication, struct rm_error *error);
void rm_publication_close(struct rm_publication *publication);

#endif
