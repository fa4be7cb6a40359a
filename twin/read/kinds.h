// SPDX-License-Identifier: Apache-2.0
/** What kind of element a file means: by class, family name, pass or the fields themselves, in this order, as pyAT does
 * (at.load.utils.find_class). */
#ifndef RM_TWIN_READ_KINDS_H
#define RM_TWIN_READ_KINDS_H

#include <ringmaster/lattice.h>

#include "value.h"

enum { RM_KIND_RING = RM_ELEMENT_KINDS /**< no element: it tells of the ring */ };

/** "Quadrupole", "quad", "Bend", … in any case; -1: no such class. Else enum rm_element_kind, or RM_KIND_RING. */
int rm_kind_by_class(char const *name);

/** Of an element's fields. */
int rm_kind_of_fields(struct rm_value const *fields);

/** How a kind is tracked unless the file says it: what pyAT's classes do. */
enum rm_pass rm_kind_pass(enum rm_element_kind kind);

#endif
