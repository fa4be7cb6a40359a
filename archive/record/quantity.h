// SPDX-License-Identifier: Apache-2.0
/** Numbers with units, as the recorder's file has them: "500 ms", "10 min", "3 d", "2 y"; "20 GiB", "500 GB"; "1000
 * turns". */
#ifndef RM_RECORD_QUANTITY_H
#define RM_RECORD_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

enum rm_quantity_kind { RM_QUANTITY_SECONDS, RM_QUANTITY_BYTES, RM_QUANTITY_TURNS };

/** Reads it; true where it is a number above 0 and one of the units, and of one of the kinds in `kinds`, which are bits
 * 1 << enum rm_quantity_kind. `*value` is in seconds, bytes or turns. */
bool rm_quantity_parse(char const *text, unsigned kinds, enum rm_quantity_kind *kind, double *value);

#endif
