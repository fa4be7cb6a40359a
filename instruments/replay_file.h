// SPDX-License-Identifier: Apache-2.0
/** Recorded turns in a file made for sending: little-endian, to be mapped and sent from where they lie.
 *
 *     offset  0   10 bytes  "RMREPLAY1\n", padded with zeros to 16
 *            16   u32       instrument_count
 *            20   u32       0
 *            24   u64       turn_count
 *            32   u64       first_turn; zeros to 64
 *            64   instrument_count × 64 bytes: u32 source IPv4 (10.0.0.1 is 0x0A000001), u16 id, u8 kind,
 *                 u8 lane count, 24 bytes name, zeros
 *     then         turn_count × instrument_count × 48 bytes: twelve lanes of 4 bytes, unused ones zero
 */
#ifndef RM_INSTRUMENTS_REPLAY_FILE_H
#define RM_INSTRUMENTS_REPLAY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "virtual_instrument.h"

enum { RM_REPLAY_INSTRUMENTS_MAX = 1024 };

struct rm_replay_file {
    struct rm_virtual_instrument *instruments;
    uint32_t instrument_count;
    uint64_t turn_count;
    rm_turn first_turn;
    /** [turn][instrument][RM_LANES], in the mapping. */
    union rm_lane const *lanes;

    void *mapping;
    size_t mapping_bytes;
};

/** Maps and checks a file; it must not shrink while it is used. RM_E_SYSTEM when it cannot be read, RM_E_CONFIG when it
 * is no replay file, is cut short or names impossible instruments. */
enum rm_code rm_replay_file_open(char const *path, struct rm_replay_file *file, struct rm_error *error);
void rm_replay_file_close(struct rm_replay_file *file);

/** Checks `length` bytes at `bytes`, which is 8-byte aligned, and fills in all but the mapping. Errors name the file
 * `path`. It never reads beyond these bytes, whatever they contain. */
enum rm_code rm_replay_file_parse(char const *path, uint8_t const *bytes, size_t length, struct rm_replay_file *file,
                                  struct rm_error *error);

/** For struct rm_turn_source (sender.h); `state` is a struct rm_replay_file. After the last turn it begins again. */
union rm_lane const *rm_replay_file_turn(void *state, uint64_t index, uint32_t first, uint32_t count);

#endif
