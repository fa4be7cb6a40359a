// SPDX-License-Identifier: Apache-2.0
/** The archive: what `ringmaster record` writes, as it lies on the disk. docs/archive-format.md tells the whole.
 *
 *     DIRECTORY/
 *       archive                    "RMARCHIVE 2 UUID\n": makes the folder an archive
 *       LOG/0000000000000001.rmlog one folder per log, its files in the order of their numbers
 *       pinned/EVENT/LOG/….rmlog   hard links of files that a post-mortem keeps
 *
 * A *log* holds all streams that one entry of the recorder's file names: of one rate, with one retention. It is a
 * sequence of files, and a file is a header of RM_LOG_HEADER_BYTES, then *blocks* one behind the other, each at a
 * multiple of RM_BLOCK_ALIGNMENT. A block belongs to one object (a stream, a reduction of one, a camera, the events)
 * and begins with struct rm_block. What is written is never written again: a file only grows, and is sealed when it is done.
 *
 * Every file can be read alone: before the first block of an object stands its description. Every block can be judged
 * alone: the header has its own checksum, and one of the payload. So a file that was cut, torn or damaged is read up to
 * the damage, and behind it from the next good block on.
 *
 * Within a file blocks are numbered (`sequence`), and carry the low word of the file's identity (`file_id`): what an
 * older file left on the disk is never taken for ours.
 *
 * All numbers are little-endian. Checksums are CRC-32C (Castagnoli), as the processor computes it.
 */
#ifndef RINGMASTER_ARCHIVE_H
#define RINGMASTER_ARCHIVE_H

#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

/** Raised whenever the meaning or the place of any byte of a file changes. */
#define RM_ARCHIVE_VERSION 2u
/** The oldest that is read, too. Version 2 added RM_BLOCK_IMAGE, RM_CODEC_BLOSC and the number in the index. */
#define RM_ARCHIVE_VERSION_OLDEST 1u

/** First eight bytes of a log file: the characters "RMARCLOG" in their order. */
#define RM_LOG_MAGIC 0x474F4C4352414D52ull
/** First four bytes of a block: the characters "RMBK". */
#define RM_BLOCK_MAGIC 0x4B424D52u

enum {
    /** Bytes of a file's header, which is padded with zeros. */
    RM_LOG_HEADER_BYTES = 4096,
    /** Blocks begin at multiples of this from the start of the file. */
    RM_BLOCK_ALIGNMENT = 64,
    /** Bytes of a log's name, with the terminating zero. */
    RM_LOG_NAME_BYTES = 32,
    /** No block has more bytes of payload, stored or plain. */
    RM_BLOCK_PAYLOAD_MAX = 64 << 20,
};

/** What begins a file. Behind it are zeros up to RM_LOG_HEADER_BYTES. */
struct rm_log_header {
    uint64_t magic;
    uint32_t version;
    /** CRC-32C of this struct with this member 0. */
    uint32_t crc;
    /** Of the archive, as in its file `archive`; the file is of no other one. */
    uint8_t archive_uuid[16];
    /** Name of the log, as its folder. */
    char log[RM_LOG_NAME_BYTES];
    /** Number of the file, as in its name; one more for each file of the log. */
    uint64_t number;
    /** Drawn at random for each file. */
    uint64_t file_id;
    /** When it was begun: nanoseconds of TAI since 1970-01-01. */
    uint64_t begun_tai_ns;
    /** TAI − UTC that the host knew when it was begun, in seconds: 37, or 0 where nothing told it. */
    int32_t tai_minus_utc_s;
    /** RM_ABI_VERSION of the recorder: says how to read a description. */
    uint32_t abi_version;
    /** Nominal rate of the turns. */
    double turn_rate_hz;
};

/** What a block holds. */
enum rm_block_kind {
    /** struct rm_archived_object: what an object is. `object` is its number in this file. */
    RM_BLOCK_DESCRIPTION = 1,
    /** struct rm_record, dense: record i is of turn `first_turn` + i × period. One that is missing has
     * RM_TURN_NONE and zeros. */
    RM_BLOCK_RECORDS = 2,
    /** Steps of a reduction, dense as well: struct rm_reduced, followed by four f32 for each lane. */
    RM_BLOCK_REDUCED = 3,
    /** Lines of JSON, each one event: docs/archive-format.md lists them. `count` is their number. */
    RM_BLOCK_EVENTS = 4,
    /** struct rm_mark: what was not recorded, and why. */
    RM_BLOCK_MARK = 5,
    /** struct rm_block_place of every block of the file, the last but the end. Only of a file that was sealed. */
    RM_BLOCK_INDEX = 6,
    /** Ends a sealed file: the last 64 bytes. `first_turn` is the offset of the index in the file. No payload. */
    RM_BLOCK_END = 7,
    /** Zeros, so that the next block stands where it shall. */
    RM_BLOCK_PADDING = 8,
    /** One frame of a camera: struct rm_archived_image, the map of its fragments, its bytes. `first_turn` is its turn, or
     * RM_TURN_NONE, and both times are `tai_ns`. */
    RM_BLOCK_IMAGE = 9,
};

/** How a payload is stored. */
enum rm_block_codec {
    /** As it is. */
    RM_CODEC_PLAIN = 0,
    /** Words of 32 bits, column by column, each less the one before; a chunk of Blosc with bit-shuffle and Zstd or LZ4,
     * which says itself which. */
    RM_CODEC_DELTA_BLOSC = 1,
    /** Of an image: its struct rm_archived_image as it is, then map and bytes in a chunk of Blosc with bit-shuffle and
     * Zstd or LZ4. What is shuffled are groups of pixels that are whole bytes: two of 12 bits, four of 10. */
    RM_CODEC_BLOSC = 2,
};

/** Begins each block. The payload follows at once, then zeros up to the next multiple of RM_BLOCK_ALIGNMENT. */
struct rm_block {
    uint32_t magic;
    /** CRC-32C of this struct with this member 0. */
    uint32_t header_crc;
    /** CRC-32C of the stored payload. */
    uint32_t payload_crc;
    /** enum rm_block_kind */
    uint8_t kind;
    /** enum rm_block_codec */
    uint8_t codec;
    /** The low 16 bits of the turn-counter epoch of its turns. */
    uint16_t turn_epoch;
    /** Number of the object in this file, from 0; UINT32_MAX for none. */
    uint32_t object;
    /** Number of the block in this file, from 0. */
    uint32_t sequence;
    /** The low word of the file's `file_id`. */
    uint32_t file_id;
    /** Records, steps or events. */
    uint32_t count;
    /** Bytes of the payload as stored, and decoded. */
    uint32_t stored_bytes, plain_bytes;
    /** Turn of the first record, or RM_TURN_NONE. */
    uint64_t first_turn;
    /** TAI of the first and of the last record by the turn clock, in nanoseconds since 1970-01-01. Turns between are
     * evenly spaced. */
    uint64_t first_tai_ns, last_tai_ns;
};

_Static_assert(sizeof(struct rm_block) == RM_BLOCK_ALIGNMENT, "a block's header is one line");

/** An entry of the index: the block's header, and where it is. */
struct rm_block_place {
    struct rm_block block;
    /** Offset of the block in the file. */
    uint64_t offset;
    /** Of an image: its `number`. 0 of others. */
    uint64_t number;
};

/** What an object is. The description of a stream is what the stream's own head says while the recorder runs. */
struct rm_archived_object {
    /** "bpm01/turn"; "events". */
    char name[RM_NAME_BYTES];
    /** enum rm_block_kind of its blocks. */
    uint32_t kind;
    /** Bytes of a record or step; 0 for events. */
    uint32_t record_bytes;
    /** Turns from one record or step to the next. */
    uint64_t period_turns;
    /** Lanes in use. */
    uint32_t lane_count;
    /** enum rm_instrument_kind */
    uint32_t instrument_kind;
    uint32_t instrument_id;
    /** enum rm_calibrated */
    uint32_t calibrated;
    /** As in struct rm_stream; of a reduction, of the stream that it reduces. */
    double group_delay_turns, closing_delay_turns, gain;
    char filter[RM_LANE_NAME_BYTES];
    /** The lane table. */
    struct rm_lane_info lane[RM_LANES];
};

/** One step of a reduction; `lane` times four f32 follow: the smallest, the mean, the largest, and the standard
 * deviation (of the population), of the records that were there. Where none was they are NaN. */
struct rm_reduced {
    /** First turn of the step, or RM_TURN_NONE where nothing of it was there. */
    rm_turn turn;
    /** Records that were there, and that were not. */
    uint32_t present, missing;
};

/** What is kept of a frame's description: struct rm_image_slot, with times where that has stamps of a processor.
 *
 * Behind it stand `map_bytes`, a bit for each fragment that came, and `length` bytes of the frame as the camera sent it. */
struct rm_archived_image {
    /** Of the frame in shared memory: one more for each frame that the receiver published. */
    uint64_t sequence;
    /** As the camera counts, and its own time stamp. */
    uint64_t number, device_time;
    /** The turn of the exposure, or of the first fragment's arrival; else RM_TURN_NONE. */
    uint64_t turn;
    /** Nanoseconds of the camera's clock. */
    uint64_t exposure_start_ns, exposure_end_ns;
    /** TAI at the arrival of the first fragment and of the last one; when the frame closed, and when it was published. */
    uint64_t tai_ns, last_tai_ns, closed_tai_ns, published_tai_ns;
    /** Bytes of the frame. */
    uint64_t length;
    /** Frames before this one that the recorder did not get to, since the one that it recorded last. */
    uint64_t passed_over;
    /** Bytes of the map: a multiple of 8. */
    uint32_t map_bytes;
    /** As in struct rm_image_slot. */
    uint32_t pixel_format, width, height, offset_x, offset_y, padding_x, padding_y;
    /** enum rm_image_status and enum rm_image_marks: images.h. */
    uint32_t status, flags;
    uint32_t fragment_bytes, fragments, placed, resent;

    uint32_t reserved32[2];
    uint64_t reserved[4];
};

_Static_assert(sizeof(struct rm_archived_image) == 3 * RM_BLOCK_ALIGNMENT, "three lines, no padding");

/** Why something was not recorded. */
enum rm_mark_reason {
    /** The recorder began: before were no records of this run. */
    RM_MARK_BEGAN = 1,
    /** The stream had gone on before the recorder came: its ring was lapped. */
    RM_MARK_LAPPED = 2,
    /** The disk was full. */
    RM_MARK_DISK_FULL = 3,
    /** The disk took less than came. */
    RM_MARK_DISK_SLOW = 4,
    /** The disk refused: an error of input and output. */
    RM_MARK_DISK_FAILED = 5,
    /** The machine's turn counter restarted. */
    RM_MARK_RESTARTED = 6,
    /** The server, or the application that writes it, was gone. */
    RM_MARK_OWNER_GONE = 7,
    /** A file was not sealed when the recorder came back: its end was found. */
    RM_MARK_REOPENED = 8,
    /** The clock of TAI was stepped. */
    RM_MARK_CLOCK_STEPPED = 9,
};

/** What was not recorded. The block's `object` is the one concerned, or UINT32_MAX for all of the log. */
struct rm_mark {
    /** enum rm_mark_reason */
    uint32_t reason;
    /** enum of errno, where the system said one. */
    int32_t error;
    /** The turns that are missing, both included; RM_TURN_NONE where they are not known. */
    uint64_t first_turn, last_turn;
    /** Records that are missing, as far as they are known. */
    uint64_t records;
};

#endif
