// SPDX-License-Identifier: Apache-2.0
/** ThinMPolePass: one kick, whose bending angle makes dispersion and path. */
#ifndef RM_TANGENT_THIN_H
#define RM_TANGENT_THIN_H

#include "multipole.h"

static inline void rm_tangent_thin(struct rm_tangent *t, struct rm_leg_multipole const *m) {
    double const bend = m->curvature;
    struct rm_multipole_field const f = rm_field_at(m, m->order, t->z[RM_X], t->z[RM_Y]);
    t->z[RM_PX] += bend * t->z[RM_DELTA] - f.re;
    t->z[RM_PY] += f.im;
    t->z[RM_CT] -= bend * t->z[RM_X];
    t->j[RM_PX] += f.im_slope * t->j[RM_Y] - f.re_slope * t->j[RM_X] + bend * t->j[RM_DELTA];
    t->j[RM_PY] += f.im_slope * t->j[RM_X] + f.re_slope * t->j[RM_Y];
    t->j[RM_CT] -= bend * t->j[RM_X];
}

#endif
