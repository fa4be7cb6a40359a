// SPDX-License-Identifier: Apache-2.0
/** Which magnet a BPM is aligned to. */
#ifndef RM_INSTRUMENTS_TRUTH_MAGNETS_H
#define RM_INSTRUMENTS_TRUTH_MAGNETS_H

#include "machine_parts.h"

/** The quadrupole whose middle is nearest to an element, or NULL. */
struct rm_machine_yoke const *rm_truth_nearest_quadrupole(struct rm_machine const *machine, uint32_t element);

/** The magnet whose supply tells a BPM where its centre is: a quadrupole that stands beside it, with nothing between them
 * that bends or focuses, else the nearest sextupole, else the nearest magnet of another kind; NULL: none has a supply. */
struct rm_machine_yoke const *rm_truth_aligned_magnet(struct rm_machine const *machine, uint32_t element);

/** The yoke that has an element, or NULL. */
struct rm_machine_yoke const *rm_truth_yoke_of(struct rm_machine const *machine, uint32_t element);

/** Element of piece `piece` of a strength. */
uint32_t rm_truth_piece_element(struct rm_machine const *machine, struct rm_machine_strength const *strength,
                                uint32_t piece);

#endif
