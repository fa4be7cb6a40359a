// SPDX-License-Identifier: Apache-2.0
/** What kind of element a file means: by class, family name, pass or the fields themselves, in this order, as pyAT does
 * (at.load.utils.find_class). */
#ifndef RM_TWIN_READ_KINDS_H
#define RM_TWIN_READ_KINDS_H

#include <stdbool.h>

#include <ringmaster/lattice.h>

#include "value.h"

/** No element: it tells of the ring. */
enum { RM_KIND_RING = RM_ELEMENT_KINDS };

/** "Quadrupole", "quad", "Bend", … in any case; -1: no such class. Else enum rm_element_kind, or RM_KIND_RING. */
int rm_kind_by_class(char const *name);

/** Whether a class acts on the beam in a way that the twin does not track, "EnergyLoss", "ResWallElement", …, in any
 * case. Saved in the 4D state some have the IdentityPass, or the DriftPass, and act as soon as pyAT's enable_6d()
 * switches them on: so the class decides, not the pass. */
bool rm_kind_is_untracked(char const *name);

/** Of an element's fields. */
int rm_kind_of_fields(struct rm_value const *fields);

/** How a kind is tracked unless the file says it: what pyAT's classes do. */
enum rm_pass rm_kind_pass(enum rm_element_kind kind);

#endif
