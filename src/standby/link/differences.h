// SPDX-License-Identifier: Apache-2.0
/** Where two configurations differ, in words that a person can act on.
 *
 * Both servers read one file. What must be equal of it is its *lines*: a line for each value, with its key before it,
 * in the order of the file, without comments and layout, and `{server}` as it stands there; and a line for each file
 * that it names, with the sum of that file's content:
 *
 *     turn_rate_hz: 1156755
 *     chains[3].timeout: 200 us
 *     applications[0].configuration: feedback.yaml (content 9f86d081884c7d65)
 */
#ifndef RM_STANDBY_LINK_DIFFERENCES_H
#define RM_STANDBY_LINK_DIFFERENCES_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "standby/link/message.h"

/** The lines of the file at `path`, freed by free(). */
enum rm_code rm_peer_lines_make(char const *path, char **lines, struct rm_error *error);

void rm_peer_lines_digest(char const *lines, uint8_t digest[RM_PEER_DIGEST_BYTES]);

/** Writes the first differences, "chains[3].timeout: a has 200 us, b has 300 us; …", and how many more there are, cut
 * to `size` bytes. Returns their number. `lines` of the peer may be anything that ends with a zero. */
uint32_t rm_peer_lines_compare(char const *own_name, char const *own, char const *peer_name, char const *peer,
                               char *text, size_t size);

#endif
