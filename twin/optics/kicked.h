// SPDX-License-Identifier: Apache-2.0
/** One turn of many particles, each of which sees one element kick otherwise. */
#ifndef RM_OPTICS_KICKED_H
#define RM_OPTICS_KICKED_H

#include <ringmaster/twin.h>

/** Added to the kick angles of `element`. */
struct rm_kick {
    uint32_t element;
    double kick_rad[2];
};

/** particles[i][6] in and out; kicks[i] is particle i's. out[point][particle][2] are x and y. */
enum rm_code rm_kicked_turn(struct rm_twin const *twin, double rf_offset_hz, double (*particles)[6],
                            struct rm_kick const *kicks, uint32_t count, uint32_t const *refpts, uint32_t refpt_count,
                            double *out, struct rm_error *error);

#endif
