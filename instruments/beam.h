// SPDX-License-Identifier: Apache-2.0
/** The readings of all virtual instruments of a ring, turn by turn.
 *
 * The values depend on configuration, seed and turn alone: asked in any order, at any time, they are the same to the
 * bit, apart from kicks that were asked for. In order, a turn costs some 10 ns per instrument.
 */
#ifndef RM_INSTRUMENTS_BEAM_H
#define RM_INSTRUMENTS_BEAM_H

#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "motion.h"
#include "virtual_instrument.h"

struct rm_beam;

/** Makes the beam of `count` instruments, which stand evenly around the ring in this order. RM_E_NO_SPACE. */
enum rm_code rm_beam_make(struct rm_beam_config const *config, struct rm_virtual_instrument const *instruments,
                          uint32_t count, struct rm_beam **beam, struct rm_error *error);
void rm_beam_free(struct rm_beam *beam);

/** Where a BPM truly stands: √β over its mean and betatron phase, in both planes, and dispersion over its mean. */
struct rm_beam_bpm {
    double root[2];
    double phase[2];
    double dispersion;
};

/** Places a BPM, instead of evenly around the ring. Its x is lane `lane` of the instrument. Call it before the first
 * turn. */
void rm_beam_place(struct rm_beam *beam, uint32_t instrument, uint32_t lane, struct rm_beam_bpm const *place);

/** Makes an instrument average over `turns` when it reads. Its noise is less by √turns, and oscillations of the beam
 * that are faster than half its rate are gone, kicks' included. Call it after its BPMs were placed, and before the
 * first turn. What is counted (losses) is that of the turn that is read. */
void rm_beam_average(struct rm_beam *beam, uint32_t instrument, uint64_t turns);

/** The readings of `turn`: RM_LANES i32 for each of `count` instruments from `first` on, unused lanes 0. Valid until
 * the next call. */
union rm_lane const *rm_beam_turn(struct rm_beam *beam, rm_turn turn, uint32_t first, uint32_t count);

/** Adds to one lane of the reading that rm_beam_turn gave last. `instrument` must be among those asked for. */
void rm_beam_add(struct rm_beam *beam, uint32_t instrument, uint32_t lane, int32_t amount);

/** Kicks the beam soon after turn `read`, the latest that was read (rm_motion_kick). Returns the turn of the kick. */
rm_turn rm_beam_kick(struct rm_beam *beam, rm_turn read);

/** Kicks the beam at the turn of another beam's kick (rm_motion_kick_at). */
void rm_beam_kick_at(struct rm_beam *beam, rm_turn kick);

#endif
