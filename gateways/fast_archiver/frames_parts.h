// SPDX-License-Identifier: Apache-2.0
/** What making frames and opening their streams share. */
#ifndef FA_FRAMES_PARTS_H
#define FA_FRAMES_PARTS_H

enum {
    /** Frames that are made at once: of one stream so many records are read. */
    FA_CHUNK = 64,
};

#endif
