// SPDX-License-Identifier: Apache-2.0
/** The tune's memory as bytes, for a standby server: the turns of the windows, and what was learnt from those before. It
 * is some ten bytes for each turn of a window, plane and BPM. */
#ifndef TUNE_PACK_H
#define TUNE_PACK_H

#include "base/pieces.h"
#include "law/follow.h"
#include "law/meter.h"
#include "rows.h"

void tune_meter_pieces(struct tune_meter *meter, struct rm_pieces *pieces);
void tune_rows_pieces(struct tune_rows_memory *rows, struct rm_pieces *pieces);
void tune_follow_pieces(struct tune_follow *follow, struct tune_meter const *meter, struct rm_pieces *pieces);

#endif
