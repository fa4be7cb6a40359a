// SPDX-License-Identifier: Apache-2.0
/** Whether a finished segment of this version is sound, so that a reader may follow its offsets.
 *
 * An owner writes only sound segments. But a file can be cut, or overwritten by a slip, and a reader shall then say so
 * instead of ending with SIGSEGV: after this check every object, every stream's slots and every parameter's values lie
 * inside the mapping, and every string ends in its field. It judges what stands there once; it does not defend against
 * an owner that changes its constants later. */
#ifndef RM_FABRIC_SEGMENT_CHECK_H
#define RM_FABRIC_SEGMENT_CHECK_H

#include <stdint.h>

#include <ringmaster/segment.h>

/** What is wrong with the segment mapped at `header`, which is `bytes` long (at least a header): a phrase for a
 * message, or NULL when nothing is. The segment must be whole, and of this ABI version and layout. */
char const *rm_segment_fault(struct rm_segment_header const *header, uint64_t bytes);

#endif
