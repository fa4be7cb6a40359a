// SPDX-License-Identifier: Apache-2.0
/** The hidden truth of a ring: all errors that were drawn, as JSON, for the test that scores what a measurement found.
 * Only --truth writes it; nothing else publishes any of it.
 *
 *     {"seed": …, "lattice": "…", "beta_beat": …,
 *      "magnets": [{"name": …, "first": …, "end": …, "dx_m": …, "dy_m": …, "roll_rad": …, "sextupole": …,
 *                   "skew_per_m": …}, …],          // elements [first, end) of its kind, with a length or thin
 *      "gradients": [{"name": …, "element": …, "relative": …}, …],
 *      "steering": [{"name": …, "element": …, "x_rad": …, "y_rad": …}, …],        // kicks at no current
 *      "correctors": [{"name": …, "element": …, "chain": …, "supply": …, "x_rad_per_unit": …, "y_rad_per_unit": …}, …],
 *      "strengths": [{"name": …, "elements": […], "chain": …, "supply": …, "change": …, "per_unit": …, "error": …,
 *                     "dx_m": …, "dy_m": …, "roll_rad": …}, …],      // supplies of magnets' fields
 *      "bpms": [{"name": …, "element": …, "instrument": …, "lane": …, "xx": …, "xy": …, "yx": …, "yy": …,
 *                "offset_x_m": …, "offset_y_m": …, "pincushion_per_m2": …, "inverted_x": …, "inverted_y": …,
 *                "swapped": …, "turn_shift": …,
 *                "quadrupole": …, "centre_x_m": …, "centre_y_m": …,
 *                "magnet": …, "magnet_x_m": …, "magnet_y_m": …, "kind": …}, …],
 *      "supplies": [{"chain": …, "supply": …, "tick_s": …, "tick_first_s": …, "ripple_phase_rad": […]}, …],
 *      "mains": [{"hz": …, "phase_rad": …}, …]}
 *
 * A BPM reads (xx x + xy y + offset_x, yx x + yy y + offset_y) of an orbit (x, y), before its planes are swapped and
 * signs inverted; `centre` is what it reads where the beam goes through the centre of the nearest quadrupole: its
 * offset for beam-based alignment. `magnet` is that whose supply of `strengths` can tell: a quadrupole that stands beside
 * the BPM, with nothing between them that bends or focuses, else the nearest sextupole, else the nearest bend; `kind` is
 * "quadrupole", "sextupole" or "bend". A strength's `error` is that of its field, as its change is counted: relative, or
 * 1/m of a skew gradient times length. "supplies" are those with a regulation of their own or ripple; their times are those
 * of the run. A ring without a machine has "bpms" and "supplies" alone, and of BPMs those whose electronics err.
 */
#ifndef RM_INSTRUMENTS_TRUTH_H
#define RM_INSTRUMENTS_TRUTH_H

#include <ringmaster/error.h>

#include "machine.h"
#include "ring_config.h"

/** Writes the file. `machine` may be NULL. RM_E_SYSTEM, RM_E_NO_SPACE. */
enum rm_code rm_truth_write(struct rm_ring_config const *ring, struct rm_machine const *machine, char const *path,
                            struct rm_error *error);

#endif
