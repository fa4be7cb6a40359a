// SPDX-License-Identifier: Apache-2.0
/** The file that keeps the highest term (docs/standby.md) over an end of this host: one line with a number.
 *
 * It is replaced as a whole, so a host that goes down leaves the old one or the new one.
 */
#ifndef RM_ENGINE_TERM_FILE_H
#define RM_ENGINE_TERM_FILE_H

#include <stdint.h>

#include <ringmaster/error.h>

/** Reads the term; 0 where there is no file yet. RM_E_CONFIG where its content is no term, RM_E_SYSTEM. */
enum rm_code rm_term_file_read(char const *path, uint32_t *term, struct rm_error *error);

/** Writes the term, and waits until it is on the disk. RM_E_SYSTEM; then the file is as it was. */
enum rm_code rm_term_file_write(char const *path, uint32_t term, struct rm_error *error);

#endif
