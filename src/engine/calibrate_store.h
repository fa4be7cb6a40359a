// SPDX-License-Identifier: Apache-2.0
/** The calibrations of all instruments of a server: from the file that the configuration names into shared memory, and
 * into the receive roles where records are calibrated in the stream.
 *
 * In the order of a start: load; state, for each stream that is planned; plan; and write once the segment is there.
 */
#ifndef RM_ENGINE_CALIBRATE_STORE_H
#define RM_ENGINE_CALIBRATE_STORE_H

#include "calibration/compiled.h"
#include "config/config.h"
#include "fabric/segment_file.h"

struct rm_calibrations;

/** Reads the configuration's table of calibrations. Without one, all functions below do nothing. RM_E_CONFIG with the
 * place in the table, or in the configuration for a file that cannot be read; RM_E_NO_SPACE. */
enum rm_code rm_calibrations_load(struct rm_config const *config, struct rm_calibrations **calibrations,
                                  struct rm_error *error);

/** For all functions, NULL is allowed: there are no calibrations. */
void rm_calibrations_free(struct rm_calibrations *calibrations);

/** Writes into the head of a stream of config->instrument[index], which is not decimated yet, whether its lanes are in
 * physical units. Where records are calibrated in the stream, calibrated lanes become f32 in their physical unit. */
void rm_calibrations_state(struct rm_calibrations const *calibrations, uint32_t index, struct rm_stream *stream);

/** Plans the parameter "calibration/NAME" and the text "calibration/NAME/units" of every calibrated instrument. */
void rm_calibrations_plan(struct rm_calibrations *calibrations, struct rm_segment_plan *plan);

/** Writes those parameters. Call it before rm_segment_finish. */
void rm_calibrations_write(struct rm_calibrations const *calibrations, struct rm_segment const *segment,
                           struct rm_segment_plan const *plan);

/** What rm_calibrate_record needs before a record of config->instrument[index] is stored; NULL where there is nothing
 * to do. The record's `calibrated` lanes are f32 afterwards. Valid until rm_calibrations_free. */
struct rm_calibration_compiled const *rm_calibrations_compiled(struct rm_calibrations const *calibrations,
                                                               uint32_t index);

#endif
