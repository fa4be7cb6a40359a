// SPDX-License-Identifier: Apache-2.0
/** The beam spot of a picture. With (dx, dy) the distance from its centroid, turned by -tilt to (u, v):
 *
 *     value = background + peak · M · exp(-u²/2σx² - v²/2σy²), at most M
 *
 * where the background has normal noise of its own, drawn once per run. It is drawn in a box around the centroid that ends
 * where it is below half a step of the largest peak, at 5σ; in the rest of the picture nothing changes. */
#ifndef RM_CAMERAS_SPOT_H
#define RM_CAMERAS_SPOT_H

#include "picture.h"

/** Draws the background into all pictures. */
void rm_spot_begin(struct rm_pictures *pictures, uint64_t seed);

/** Takes the spot of a picture away where it was, and draws it at (x, y). */
void rm_spot_draw(struct rm_pictures *pictures, uint64_t picture, double x, double y);

/** Where it is at a time, without a stream: at rest, or on its sine. */
void rm_spot_place(struct rm_camera_spot const *spot, double seconds, double *x, double *y);

#endif
