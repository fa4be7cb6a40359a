// SPDX-License-Identifier: Apache-2.0
/** The writing side of a row ring (ringmaster/rows.h): the writer of its stream, which opens, adopts and restarts it;
 * and how a row goes into it. */
#ifndef RM_FABRIC_ROWS_WRITER_H
#define RM_FABRIC_ROWS_WRITER_H

#include <ringmaster/rows.h>

#include "fabric/stream_writer.h"

/** Stores the row of `turn`, a multiple of the period and below RM_TURN_END, and shows it to readers as of `tsc`.
 * `writer` is that of `rows->stream`. A turn that is not above the newest one begins the ring anew, in another
 * turn-counter epoch. */
void rm_rows_put(struct rm_stream_writer *writer, struct rm_rows *rows, rm_turn turn, uint32_t quality,
                 float const *values, uint64_t tsc);

#endif
