// SPDX-License-Identifier: Apache-2.0
/** A source of frames: what a port sends, burst by burst. Templates (template_source.h), a capture, the datagrams of
 * an instrument have this one face, so the generator's role knows none of them.
 *
 * A kind of source has `struct rm_source` as its first member, and one constant of its functions. It is made and freed
 * by the control side, and used by one polling core between: there it allocates nothing and calls no kernel.
 *
 * Times. A source without `due` has no times of its own: the pace of the description (pace.h) says how many frames are
 * due. One with `due` (a capture with its gaps, turns of an instrument) says it itself.
 */
#ifndef RM_TRAFFIC_SOURCE_H
#define RM_TRAFFIC_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/port.h"

struct rm_source;

struct rm_source_ops {
    /** Sending begins, or begins again from the first frame, at `tsc`. */
    void (*start)(struct rm_source *source, uint64_t tsc);
    /** Makes the next frames in burst->data[0 … burst->count - 1], and sets length[] (without FCS). Returns how many:
     * fewer where the source has ended. With `lends` it may point data[] at memory of its own instead, which stays as
     * it is until the next call of `fill`. */
    uint32_t (*fill)(struct rm_source *source, struct rm_burst *burst, uint64_t tsc);
    /** How many frames have become due until `tsc` that were neither filled nor skipped. One that
     * has ended says 1, for `fill` to tell that. NULL: the pace decides. */
    uint64_t (*due)(struct rm_source *source, uint64_t tsc);
    /** Passes over `count` frames that will not be sent. NULL: the next frame is as good. */
    void (*skip)(struct rm_source *source, uint64_t count);
    void (*free)(struct rm_source *source);
};

struct rm_source {
    struct rm_source_ops const *ops;
    /** Set by the user before `start`: the port copies what it sends (rm_port_copies), so frames may lie anywhere. */
    bool lends;
};

#endif
