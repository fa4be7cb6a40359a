// SPDX-License-Identifier: Apache-2.0
/** Linear optics about a closed orbit that was found. */
#ifndef RM_OPTICS_LINOPT6_H
#define RM_OPTICS_LINOPT6_H

#include "closed.h"
#include "modes.h"

/** What is asked for. */
struct rm_linopt6_call {
    struct rm_twin const *twin;
    struct rm_optics_options const *options;
    uint32_t const *refpts;
    uint32_t count;
};

/** Fills in what linopt6 gives. The orbit has the call's points. */
enum rm_code rm_linopt6_fill(struct rm_linopt6_call const *call, struct rm_closed const *closed,
                             struct rm_modes const *modes, struct rm_optics_summary *ring, struct rm_optics *optics,
                             struct rm_error *error);

#endif
