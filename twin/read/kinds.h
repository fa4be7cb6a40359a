// SPDX-License-Identifier: Apache-2.0
/** What kind of element a file means: by class, family name, pass or the fields themselves, in this order, as pyAT does
 * (at.load.utils.find_class). */
#ifndef RM_TWIN_READ_KINDS_H
#define RM_TWIN_READ_KINDS_H

#include <stdbool.h>

#include <ringmaster/lattice.h>

#include "value.h"

/** It is no element: it describes the ring. */
enum { RM_KIND_RING = RM_ELEMENT_KINDS };

/** The kind of a class, "Quadrupole", "quad", "Bend", … in any case: enum rm_element_kind, or RM_KIND_RING; -1: there
 * is no such class. */
int rm_kind_by_class(char const *name);

/** True when a class acts on the beam in a way that the twin does not track: "EnergyLoss", "ResWallElement", …, in any
 * case. Saved in the 4D state some have the IdentityPass, or the DriftPass, and act as soon as pyAT's enable_6d()
 * switches them on: so the class decides, not the pass. */
bool rm_kind_is_untracked(char const *name);

/** The kind of an element with these fields, with the values of rm_kind_by_class. */
int rm_kind_of_fields(struct rm_value const *fields);

/** How a kind is tracked unless the file says it: what pyAT's classes do. */
enum rm_pass rm_kind_pass(enum rm_element_kind kind);

#endif
