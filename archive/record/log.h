// SPDX-License-Identifier: Apache-2.0
/** A log while it is recorded: buffers that fill with blocks, and go to the disk.
 *
 *     size_t bytes;
 *     void *payload = rm_log_room(log, 64, &bytes);                        // NULL: the disk is behind
 *     … at most `bytes` bytes …
 *     rm_log_append(log, &(struct rm_block){.kind = RM_BLOCK_RECORDS, .object = 3, .stored_bytes = …, …});
 *
 * It never waits for the disk but where a file is made. One thread.
 *
 * A buffer is free, filling, ready (full, or due), in flight, or headless. A full one is padded to whole sectors and
 * written as one piece behind the one before. rm_log_flush hands over what there is, and wants it synced; what is synced
 * counts as durable, in the order of the records. When a file is full the next one is made, and the last one goes to `done_with` once it is synced.
 *
 * ## When the disk refuses
 * A file that cannot be made, or a write that fails, is *trouble*: the log keeps what it has in its buffers, and takes
 * more as long as there is a free one. Each second it begins anew in another file, to which all that was not written
 * goes. So what a short trouble costs is nothing. While it lasts, rm_log_room returns NULL before long: the reader of
 * a stream leaves records in the server's ring, and counts those that it loses there.
 */
#ifndef RM_RECORD_LOG_H
#define RM_RECORD_LOG_H

#include "log_file.h"

enum {
    RM_LOG_BUFFERS = 8,
    RM_LOG_TAG_SYNC = 0x80,
    RM_LOG_TAG_HEAD = 0x40,
    /** Files of a log that are open at a time: the one that is written, and those that wait for their sync. */
    RM_LOG_FILES = 3,
};

enum rm_log_buffer_state {
    RM_LOG_BUFFER_FREE,
    RM_LOG_BUFFER_FILLING,
    RM_LOG_BUFFER_READY,
    RM_LOG_BUFFER_IN_FLIGHT,
    /** Written, in a file whose head is still under way: without a head nothing in it is found. */
    RM_LOG_BUFFER_HEADLESS,
};

struct rm_log_buffer {
    uint8_t *data;
    size_t fill;
    /** Its number among those that the disk was told. */
    unsigned number;
    enum rm_log_buffer_state state;
    /** Counts writes of the log: the order of the buffers. */
    uint64_t serial;
    /** The file that it goes to. */
    struct rm_log_file *file;
    uint64_t offset;
    /** Records, steps and events in it. */
    uint64_t records;
};

/** What the recorder is told of a log. Counts only grow. */
struct rm_log_figures {
    uint64_t blocks, bytes, records;
    /** Writes and syncs that failed, and files that could not be made. */
    uint64_t errors;
    /** Times that no buffer was free. */
    uint64_t stalls;
    /** TAI of the newest record that is durable; 0: none. */
    uint64_t durable_tai_ns;
};

struct rm_log;

/** What a log asks of the recorder. */
struct rm_log_owner {
    void *context;
    /** A file is complete and closed: to be sealed. `file->place` is the callee's from now on. */
    void (*done_with)(void *context, struct rm_log *log, struct rm_log_file const *file);
    /** Makes the file of that number beside, and calls rm_log_prepared when it is there; false: it cannot just now. NULL:
     * files are made when they are needed, which waits for the disk. */
    bool (*prepare)(void *context, struct rm_log *log, uint64_t number);
    /** Makes so much room on the disk, if it may; else returns false. Called before a file is made. */
    bool (*make_room)(void *context, struct rm_log *log, uint64_t bytes);
};

struct rm_log {
    /* Set by the caller before rm_log_open. */
    char name[RM_LOG_NAME_BYTES];
    char folder[PATH_MAX];
    /** Number of the log in tags. */
    unsigned index;
    uint64_t file_bytes;
    /** A file is ended when it is so old. */
    uint64_t file_ns;
    uint64_t next_number;
    /** Files that were found unsealed, not marked yet. */
    uint32_t reopened;
    /** TAI was stepped, which is not marked yet. */
    bool stepped;
    /** What the log holds: the descriptions that begin every file. */
    struct rm_archived_object const *object;
    uint32_t object_count;
    struct rm_disk *disk;
    struct rm_archive_identity const *identity;
    struct rm_log_owner owner;
    /** Memory, aligned and a multiple of RM_DISK_ALIGNMENT: for the head of a file (rm_log_head_bytes), and for blocks. */
    uint8_t *head;
    size_t head_bytes;
    unsigned head_number;
    size_t buffer_bytes;
    struct rm_log_buffer buffer[RM_LOG_BUFFERS];

    /* Its own. */
    struct rm_log_file file[RM_LOG_FILES];
    /** The one that is written; NULL: none. */
    struct rm_log_file *open;
    /** The one that the head in memory is on its way to; NULL: it is free. */
    struct rm_log_file const *head_file;
    uint64_t serial;
    /** The next file is being made, or is there: the disk's number of it, less than 0: it is not. */
    bool preparing;
    int prepared;
    /** TAI of the newest record that was appended; the first turn of the file and its TAI, or RM_TURN_NONE and 0. */
    uint64_t newest_tai_ns;
    rm_turn first_turn;
    uint64_t first_tai_ns;
    /** enum rm_mark_reason of the trouble, or 0; its errno; when it is tried again. */
    unsigned trouble;
    int trouble_error;
    uint64_t retry_ns;
    struct rm_log_figures figures;
    /** The trouble that ended last, for a mark; 0: the mark was made. */
    unsigned ended_trouble;
    int ended_error;
};

/** Bytes of the head of a file with so many objects. */
size_t rm_log_head_bytes(uint32_t objects);

/** Begins; no file is made before the first block. */
void rm_log_open(struct rm_log *log);

/** Where the payload of the next block goes, at least `least` bytes of it; `*bytes` is how many there are. NULL: no
 * buffer is free, or there is no file and none can be made just now. `now_ns` is rm_monotonic_ns, `tai_ns` now. */
void *rm_log_room(struct rm_log *log, size_t least, size_t *bytes, uint64_t now_ns, uint64_t tai_ns);

/** Ends the block that rm_log_room gave room for. Of `block` the kind, codec, epoch, object, count, bytes, turn and
 * times are set. */
void rm_log_append(struct rm_log *log, struct rm_block *block);

/** Hands over what there is, and wants all of it synced. */
void rm_log_flush(struct rm_log *log);

/** What became of a write or sync of this log. */
void rm_log_done(struct rm_log *log, struct rm_disk_done const *done, uint64_t now_ns);

/** Ends the file: the next block is in another one. */
void rm_log_end_file(struct rm_log *log);

/** The next file was made: the disk's number of it, or a negative errno. */
void rm_log_prepared(struct rm_log *log, int handle);

/** Gives back the file that was made ahead, if there is one. */
void rm_log_unprepare(struct rm_log *log);

/** Looks whether there is something to be done: call it at each turn of the recorder's loop. */
void rm_log_work(struct rm_log *log, uint64_t now_ns, uint64_t tai_ns);

/** Records that wait in buffers and have come to no file: lost, if the log ends now. */
uint64_t rm_log_unwritten(struct rm_log const *log);

/** True when nothing is in flight, and all that was flushed is durable or given up. */
bool rm_log_is_idle(struct rm_log const *log);

/** Number of a log in a tag. */
static inline unsigned rm_log_of_tag(uint64_t tag) { return (unsigned)(tag >> 8); }

#endif
