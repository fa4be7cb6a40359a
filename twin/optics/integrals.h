// SPDX-License-Identifier: Apache-2.0
#ifndef RM_OPTICS_INTEGRALS_H
#define RM_OPTICS_INTEGRALS_H

#include "../twin_parts.h"

/** I1 to I5 of one period, from the optics at all count + 1 points. */
void rm_integrals(struct rm_twin const *twin, struct rm_optics const *optics, double integral[5]);

#endif
