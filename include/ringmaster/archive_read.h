// SPDX-License-Identifier: Apache-2.0
/** Reading an archive back: what is in it, and the records of any span of turns. archive.h has the layout.
 *
 *     struct rm_archive *archive;
 *     if (rm_archive_open("/archive", &archive, &error) != RM_OK) …
 *     uint32_t object;
 *     if (rm_archive_find(archive, "bpm01/turn", RM_BLOCK_RECORDS, 0, &object, &error) != RM_OK) …
 *     struct rm_archive_request const request = {.object = object, .run = 0, .first_turn = turn, .count = 8192};
 *     struct rm_archive_answer const answer = {.records = records, .results = results};
 *     if (rm_archive_read(archive, &request, &answer, &error) != RM_OK) …
 *     rm_archive_close(archive);
 *
 * A path is the directory of an archive, the folder of an event or of a log in it, or one file. Files that are none of
 * the archive's are left out and listed: rm_archive_foreign. A damaged or cut file is read up to the damage, and from
 * the next good block on; what was skipped is listed: rm_archive_damage. A file that grows is read up to its last whole
 * block; rm_archive_refresh looks further.
 *
 * ## Objects and runs
 * An object is what a description says, in one log: a stream, or a reduction of it, or the events. Where a description
 * changed, that is another object of the same name. A *run* is a stretch of an object in which the turns grow. A restart
 * of the machine's turn counter begins another run, so the same turn may stand in several.
 *
 * A camera is an object, too, of the kind RM_BLOCK_IMAGE: each of its blocks is a frame, and it has one run. Its frames
 * need not have turns. rm_archive_images_between finds them, and rm_archive_image reads one.
 *
 * An archive is used by one thread at a time. Pointers stay valid until the next refresh or the close. Nothing is
 * written to the archive.
 */
#ifndef RINGMASTER_ARCHIVE_READ_H
#define RINGMASTER_ARCHIVE_READ_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/archive.h>
#include <ringmaster/error.h>

/** An archive that was opened. */
struct rm_archive;

enum {
    /** Bytes of a path, with the terminating zero. */
    RM_ARCHIVE_PATH_BYTES = 1024,
    /** Bytes of a sentence about a file, with the terminating zero. */
    RM_ARCHIVE_TEXT_BYTES = 192,
};

/** A file of the archive. */
struct rm_archive_file {
    char path[RM_ARCHIVE_PATH_BYTES];
    struct rm_log_header header;
    /** Bytes of the file, and how many of them were looked at. */
    uint64_t bytes, read_bytes;
    /** 1: it was sealed, and its index is used. */
    uint32_t sealed;

    uint32_t reserved;
};

/** A block of an object. */
struct rm_archive_block {
    struct rm_block block;
    /** Offset of the block's header in its file. */
    uint64_t offset;
    /** Number of the file. */
    uint32_t file;
    /** Run of its object. */
    uint32_t run;
    /** Of an image: the camera's number of the frame. */
    uint64_t number;
};

/** A stretch of an object in which the turns grow. Times are those of its first and last record. */
struct rm_archive_run {
    uint64_t first_turn, last_turn;
    uint64_t first_tai_ns, last_tai_ns;
    /** The low 16 bits of the turn-counter epoch. */
    uint32_t turn_epoch;
    /** TAI − UTC of the file that it begins in, in seconds. */
    int32_t tai_minus_utc_s;
};

/** An object of one log. */
struct rm_archive_object {
    struct rm_archived_object is;
    char log[RM_LOG_NAME_BYTES];
    /** Its blocks in the order in which they were written, and its runs. */
    struct rm_archive_block const *block;
    struct rm_archive_run const *run;
    uint32_t block_count, run_count;
    /** Records, steps or events, missing ones included. */
    uint64_t records;
    /** Bytes of its payloads as stored, and decoded. */
    uint64_t stored_bytes, plain_bytes;
};

/** What was not recorded, and where the recorder said so. */
struct rm_archive_mark {
    struct rm_mark mark;
    char log[RM_LOG_NAME_BYTES];
    /** Number of the object, or UINT32_MAX for all of the log. */
    uint32_t object;
    uint32_t turn_epoch;
    /** When it was written. */
    uint64_t tai_ns;
    int32_t tai_minus_utc_s;

    uint32_t reserved;
};

/** A part of a file that cannot be read. */
struct rm_archive_damage {
    char path[RM_ARCHIVE_PATH_BYTES];
    uint64_t offset, bytes;
    /** What is wrong. */
    char what[RM_ARCHIVE_TEXT_BYTES];
};

/** A file that is none of the archive's. */
struct rm_archive_foreign {
    char path[RM_ARCHIVE_PATH_BYTES];
    /** Why it is not. */
    char what[RM_ARCHIVE_TEXT_BYTES];
};

/** What became of a record. The numbers are those of enum rm_read where that has the same. */
enum rm_archive_result {
    /** It is there. */
    RM_ARCHIVE_OK = 0,
    /** It was lost before it was recorded. */
    RM_ARCHIVE_MISSING = 2,
    /** The archive has no block of this turn. */
    RM_ARCHIVE_NOT_RECORDED = 5,
    /** Its block is damaged. */
    RM_ARCHIVE_DAMAGED = 6,
};

/** Which records to read: of turns first_turn, first_turn + period, … */
struct rm_archive_request {
    uint32_t object;
    uint32_t run;
    /** A multiple of the object's period. */
    uint64_t first_turn;
    uint64_t count;
};

/** Where to put them: arrays of `count`. NULL where something is not wanted. Times alone are read from the index. */
struct rm_archive_answer {
    /** `record_bytes` each: struct rm_record, or a step of a reduction. Zeros where the result is not RM_ARCHIVE_OK. */
    void *records;
    /** enum rm_archive_result */
    uint8_t *results;
    /** Times of the records; 0 where the archive has no block. */
    uint64_t *tai_ns;
    /** The same in UTC, by the offset in the block's file. */
    uint64_t *utc_ns;
};

/** Consecutive turns of a run. */
struct rm_archive_range {
    uint32_t run;

    uint32_t reserved;
    uint64_t first_turn;
    /** Records. */
    uint64_t count;
};

/** In which scale a time is given. */
enum rm_time_scale {
    RM_TIME_TAI = 0,
    RM_TIME_UTC = 1,
};

/** Opens an archive. RM_E_ABSENT: there is no such path. RM_E_VERSION: it was made by another version.
 * RM_E_NOT_FOUND: the path is no archive. */
enum rm_code rm_archive_open(char const *path, struct rm_archive **archive, struct rm_error *error);

/** Looks for new files, and for new blocks in those that grow. Numbers of objects stay, others may change. */
enum rm_code rm_archive_refresh(struct rm_archive *archive, struct rm_error *error);

/** NULL is allowed. */
void rm_archive_close(struct rm_archive *archive);

uint32_t rm_archive_object_count(struct rm_archive const *archive);
struct rm_archive_object const *rm_archive_object_at(struct rm_archive const *archive, uint32_t object);

/** The newest object of that name and kind (enum rm_block_kind); `period_turns` 0: of any period. */
enum rm_code rm_archive_find(struct rm_archive const *archive, char const *name, uint32_t kind, uint64_t period_turns,
                             uint32_t *object, struct rm_error *error);

/** These give an array and set `count`. */
struct rm_archive_file const *rm_archive_files(struct rm_archive const *archive, uint32_t *count);
struct rm_archive_mark const *rm_archive_marks(struct rm_archive const *archive, uint32_t *count);
struct rm_archive_damage const *rm_archive_damages(struct rm_archive const *archive, uint32_t *count);
struct rm_archive_foreign const *rm_archive_foreigns(struct rm_archive const *archive, uint32_t *count);

/** Reads records. What is not there has its result, and is no error. Blocks that turn out to be damaged are added to
 * rm_archive_damages. RM_E_ARGUMENT: no such object, run or turn. RM_E_BUSY: a file was removed, or stored anew, since
 * the last look: refresh, and read again. */
enum rm_code rm_archive_read(struct rm_archive *archive, struct rm_archive_request const *request,
                             struct rm_archive_answer const *answer, struct rm_error *error);

/** The turns of an object whose times are in [from_ns, until_ns), in the order in which they were recorded. Writes at
 * most `most` ranges, and returns how many there are. */
uint32_t rm_archive_between(struct rm_archive const *archive, uint32_t object, enum rm_time_scale scale,
                            uint64_t from_ns, uint64_t until_ns, struct rm_archive_range *ranges, uint32_t most);

/** Reads the payload of block `block` of an object, decoded, into `bytes`: its `plain_bytes`. RM_E_CONFIG: the block is
 * damaged. RM_E_BUSY: as rm_archive_read. */
enum rm_code rm_archive_payload(struct rm_archive *archive, uint32_t object, uint32_t block, void *bytes,
                                struct rm_error *error);

/** What frames are looked for by. */
enum rm_image_order {
    /** The arrival of the first fragment. */
    RM_IMAGE_BY_TAI = 0,
    RM_IMAGE_BY_UTC = 1,
    /** Frames without a turn are left out. */
    RM_IMAGE_BY_TURN = 2,
    /** The camera's own. */
    RM_IMAGE_BY_NUMBER = 3,
};

/** A frame that was read; what it points to is in the caller's memory. */
struct rm_archive_image {
    struct rm_archived_image is;
    /** is.map_bytes: a bit for each of is.fragments, set where it came. NULL where there are none. */
    uint64_t const *map;
    /** is.length of them. */
    uint8_t const *bytes;
};

/** The frames of a camera whose time, turn or number is in [from, until): their blocks, in the order in which they were
 * recorded. Writes at most `most` numbers of blocks, and returns how many there are; 0, too, where the object has no
 * images. */
uint32_t rm_archive_images_between(struct rm_archive const *archive, uint32_t object, enum rm_image_order order,
                                   uint64_t from, uint64_t until, uint32_t *blocks, uint32_t most);

/** Reads the frame that is block `block` of a camera into `payload`, which holds its `plain_bytes` and is aligned to 8.
 * Errors as those of rm_archive_payload. */
enum rm_code rm_archive_image(struct rm_archive *archive, uint32_t object, uint32_t block, void *payload,
                              struct rm_archive_image *image, struct rm_error *error);

/** The checksum of headers and payloads: CRC-32C of so many bytes. */
uint32_t rm_crc32c(void const *data, size_t bytes);

/** Bytes of a struct of this header, by its name; 0 for another name. For callers in another language. */
size_t rm_archive_size_of(char const *name);

#endif
