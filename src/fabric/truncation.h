// SPDX-License-Identifier: Apache-2.0
/** Outliving that another process cuts a file which is mapped here.
 *
 * Whoever owns a segment may cut its file at any instant, and who reads it then gets SIGBUS, which ends a process. A
 * server that reads its applications' rows must not end by that. So it asks for this once, and from then on a segment
 * that is mapped as a reader (segment_map.h) is watched: in place of what was cut stand zeros, for good. Zeros are an
 * application that sends nothing and asks for nothing.
 *
 * This is a handler of a signal, and so the process's as a whole: programs ask for it, the library never does. A fault
 * elsewhere is what it was without. */
#ifndef RM_FABRIC_TRUNCATION_H
#define RM_FABRIC_TRUNCATION_H

#include <stdint.h>

#include <ringmaster/error.h>

/** From now on; asking twice is asking once. */
enum rm_code rm_truncation_survive(struct rm_error *error);

/** Watches a mapping; forgets it before it is unmapped. Any thread. Beyond a thousand mappings they are not watched. */
void rm_truncation_watch(void const *start, uint64_t bytes);
void rm_truncation_forget(void const *start);

#endif
