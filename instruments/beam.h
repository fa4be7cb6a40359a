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
#include "oscillation.h"
#include "virtual_instrument.h"

struct rm_beam;

/** Makes the beam of `count` instruments, which stand evenly around the ring in this order. RM_E_NO_SPACE. */
enum rm_code rm_beam_make(struct rm_beam_config const *config, struct rm_virtual_instrument const *instruments,
                          uint32_t count, struct rm_beam **beam, struct rm_error *error);
void rm_beam_free(struct rm_beam *beam);

/** Units of the columns that come from a motion of its own: by these its parts are multiplied. */
struct rm_beam_scales {
    /** [mode] nm of the betatron columns per √m. */
    double mode[2];
};

/** Takes betatron and energy oscillation, kicks and the cavities' field from `oscillation`, which is at the turn that is
 * read, instead of from the configuration. The energy's cosine column is then δ, its sine column 1 for a phase of
 * RM_LANE_BEAM_PHASE_URAD. Call it before the first turn; it stays in use. */
void rm_beam_follow(struct rm_beam *beam, struct rm_oscillation *oscillation, struct rm_beam_scales const *scales);

/** Says what a BPM reads of the motion, in nm of x and y per unit of its parts X1 P1 X2 P2 δ δ², instead of that it stands
 * evenly around the ring. Its x is lane `lane` of the instrument. */
void rm_beam_place(struct rm_beam *beam, uint32_t instrument, uint32_t lane,
                   double const weight_nm[2][RM_OSCILLATION_PHASE]);

/** Gives a lane another white noise, of this RMS at turn rate in the lane's unit. Call it before rm_beam_average. */
void rm_beam_noise(struct rm_beam *beam, uint32_t instrument, uint32_t lane, double rms);

/** Makes an instrument average over `turns` when it reads: the motion that it follows, and its noise, which is less by
 * √turns. Call it after rm_beam_follow, before the first turn. What is counted (losses) is that of the turn that is
 * read. */
void rm_beam_average(struct rm_beam *beam, uint32_t instrument, uint64_t turns);

/** The readings of `turn`: RM_LANES i32 for each of `count` instruments from `first` on, unused lanes 0. Valid until
 * the next call. */
union rm_lane const *rm_beam_turn(struct rm_beam *beam, rm_turn turn, uint32_t first, uint32_t count);

/** Adds to one lane of the reading that rm_beam_turn gave last. `instrument` must be among those asked for. */
void rm_beam_add(struct rm_beam *beam, uint32_t instrument, uint32_t lane, int32_t amount);

/** Leaves losses to the caller: kicks add nothing to loss monitors and interlocks any more. */
void rm_beam_leave_losses(struct rm_beam *beam);

/** Sets the mean of a loss monitor's channel, at most RM_POISSON_MEAN_MAX; after rm_beam_make. */
void rm_beam_expose(struct rm_beam *beam, uint32_t instrument, uint32_t channel, double mean);

/** Kicks the beam at a turn (rm_motion_kick_at). */
void rm_beam_kick_at(struct rm_beam *beam, rm_turn kick, double x_nm, double y_nm);

#endif
