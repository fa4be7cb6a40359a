// SPDX-License-Identifier: Apache-2.0
/** The description of a virtual camera's features, as GenICam has it: which registers are which features. */
#ifndef RM_CAMERAS_GENICAM_H
#define RM_CAMERAS_GENICAM_H

#include <stddef.h>

/** Writes it; `*bytes` is how many there are, with zeros behind the text up to whole registers. To be freed. NULL: there is no
 * memory. */
char *rm_genicam_write(size_t *bytes);

#endif
