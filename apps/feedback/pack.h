// SPDX-License-Identifier: Apache-2.0
/** The feedback as bytes, for a standby server: all that steps see and change, between two cycles. Of matrices only the
 * questions are there: the host that takes the bytes over solves them again, to the same bits. */
#ifndef FEEDBACK_PACK_H
#define FEEDBACK_PACK_H

#include <stddef.h>

#include <ringmaster/application.h>

/** As `pack` and `unpack` of ringmaster/application.h. Unpacking solves: it takes as long as a matrix does. */
size_t feedback_pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity);
enum rm_code feedback_unpack(struct rm_application_setup const *setup, void *state, void const *bytes, size_t count,
                             struct rm_error *error);

#endif
