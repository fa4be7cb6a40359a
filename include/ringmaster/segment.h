// SPDX-License-Identifier: Apache-2.0
/** The shape of one shared-memory segment: a header, a directory, and the objects it names.
 *
 * A workspace is a directory of the file system, by default `/dev/shm/ringmaster/NAME`. In it every owner (the server,
 * an application, a virtual ring) has one segment, `OWNER.segment`, which it alone may write and everybody else maps
 * read-only, and one `OWNER.lock`, on which a living owner holds a write lock (fcntl open file description lock): the
 * kernel drops it however the owner ends, so the lock tells a living owner from a dead one without any heartbeat.
 *
 * Where the workspace has a folder of the owner's name, both lie in that folder: so an owner may be another user than
 * the server's, who cannot write the workspace itself. Short-lived owners (who ask for a parameter to be set and end)
 * have theirs in the folder `requests`, so whoever may write there may ask.
 *
 *     offset 0      struct rm_segment_header
 *     directory     header.object_count × struct rm_object, at header.directory_offset
 *     objects       each at its object.offset, page aligned
 *
 * The directory describes itself: a reader that knows only this file can list, type and read everything in it.
 *
 * Memory ordering: the owner fills header, directory and every object's constant part, then stores `magic` with
 * release. Whoever loads `magic` with acquire and finds RM_SEGMENT_MAGIC sees all of that. An owner that adopts a
 * segment leaves `magic` and every constant part alone, sets the live parts back, and stores `state` = RM_SEGMENT_LIVE
 * with release after owner_pid, started_tai_ns and epoch: a reader that stayed attached loads `state` with acquire to
 * see those of the new owner. (The magic pairs in:
 * rm_segment_finish in src/fabric/segment_file.c → rm_segment_whole in src/fabric/segment_map.c; the Python package
 * reads it by an aligned 8-byte load, an acquire on x86-64.)
 */
#ifndef RINGMASTER_SEGMENT_H
#define RINGMASTER_SEGMENT_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>

enum rm_segment_state {
    RM_SEGMENT_BUILDING = 0,
    /** The owner runs, or was killed: ask the lock. */
    RM_SEGMENT_LIVE = 1,
    /** The owner stopped in good order; the content is final. */
    RM_SEGMENT_CLOSED = 2,
    /** This one was removed, or a later owner made one of another layout: attach again. */
    RM_SEGMENT_REPLACED = 3,
};

struct rm_segment_header {
    /** RM_SEGMENT_MAGIC, stored last. */
    _Atomic uint64_t magic;
    /** RM_ABI_VERSION of the owner. */
    uint32_t abi_version;
    /** sizeof(struct rm_segment_header) of the owner. */
    uint32_t header_bytes;
    /** Hash of src/fabric/abi/abi.json the owner was built with. */
    uint64_t layout_hash;
    /** Hash of the directory; equal means: can be adopted as it is. */
    uint64_t directory_hash;
    /** Size of the whole file. */
    uint64_t segment_bytes;
    /** Bytes from the segment's start. */
    uint64_t directory_offset;
    /** Entries in the directory. */
    uint32_t object_count;
    /** sizeof(struct rm_object) of the owner. */
    uint32_t object_bytes;
    /** 1 for the first instance, one more for every owner that adopts it. */
    _Atomic uint64_t epoch;
    /** enum rm_segment_state */
    _Atomic uint32_t state;
    /** Process that made or adopted it last. */
    _Atomic uint32_t owner_pid;
    /** When that process did so. */
    _Atomic uint64_t started_tai_ns;
    /** "server", "ring", … */
    char owner[RM_OWNER_BYTES];

    uint64_t reserved[10];
};

_Static_assert(sizeof(struct rm_segment_header) == 3 * RM_CACHE_LINE, "three cache lines, no padding");

enum rm_object_kind {
    /** struct rm_stream and its slots: stream.h. */
    RM_OBJECT_STREAM = 1,
    /** struct rm_setpoints: setpoint.h. */
    RM_OBJECT_SETPOINTS = 3,
    /** struct rm_parameter and its values: parameter.h. */
    RM_OBJECT_PARAMETER = 4,
    /** An array of u64: counter.h. */
    RM_OBJECT_COUNTERS = 5,
    /** struct rm_clock: clock.h. */
    RM_OBJECT_CLOCK = 6,
    /** struct rm_histogram: histogram.h. */
    RM_OBJECT_HISTOGRAM = 7,
    /** UTF-8 text of `bytes` bytes, constant. */
    RM_OBJECT_TEXT = 8,
    /** struct rm_group: parameters that change together: group.h. */
    RM_OBJECT_GROUP = 9,
    /** struct rm_requests: what this owner asks of others: request.h. */
    RM_OBJECT_REQUESTS = 10,
    /** struct rm_replies: what this owner answered: request.h. */
    RM_OBJECT_REPLIES = 11,
    /** struct rm_grant: what the guard thinks of an application: grant.h. */
    RM_OBJECT_GRANT = 12,
};

/** What an object's elements are, in NumPy's words. */
enum rm_element_type {
    /** 64-byte records. */
    RM_ELEMENT_RECORD = 1,

    RM_ELEMENT_F64 = 2,
    RM_ELEMENT_F32 = 3,
    RM_ELEMENT_I64 = 4,
    RM_ELEMENT_I32 = 5,
    RM_ELEMENT_U64 = 6,
    RM_ELEMENT_U32 = 7,
    /** Bytes; UTF-8 when the object is a text or a parameter of unit "utf-8". */
    RM_ELEMENT_U8 = 8,
};

/** One entry of the directory. Constant once the segment is finished. */
struct rm_object {
    /** "stream/bpm01/turn"; unique in its workspace. */
    char name[RM_NAME_BYTES];
    /** Of the elements; empty where lanes have their own. */
    char unit[RM_UNIT_BYTES];
    /** One sentence. */
    char description[RM_DESCRIPTION_BYTES];
    /** enum rm_object_kind */
    uint32_t kind;
    /** enum rm_element_type */
    uint32_t element_type;
    /** Elements; shape[1] is 1 for one dimension. */
    uint64_t shape[2];
    /** Bytes from the segment's start, page aligned. */
    uint64_t offset;
    /** Of the object, header included. */
    uint64_t bytes;
    /** Of counters: enum rm_counter_set; of streams: the instrument kind; else 0. */
    uint32_t variety;

    uint32_t reserved32;
    uint64_t reserved[7];
};

_Static_assert(sizeof(struct rm_object) == 5 * RM_CACHE_LINE, "five cache lines, no padding");

#endif
