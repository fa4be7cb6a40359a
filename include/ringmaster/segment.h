// SPDX-License-Identifier: Apache-2.0
/** The shape of one shared-memory segment: a header, a directory, and the objects it names.
 *
 * A workspace is a directory of the file system, by default `/dev/shm/ringmaster/NAME`. In it every owner (the server,
 * an application, a virtual ring) has two files. `OWNER.segment` is its segment: the owner alone may write it, and all
 * others map it read-only. On `OWNER.lock` a living owner holds a write lock (an fcntl open file description lock). The
 * kernel drops the lock however the owner ends, so it tells a living owner from a dead one without any heartbeat.
 * Its first byte is locked as long as a process owns the segment, its second as soon as the segment tells of that owner, and no
 * longer of the one before. A reader looks at the second, and then at `state`.
 *
 * An owner of images has a third file, `OWNER.leases`, which all who may read its segment may write: images.h.
 *
 * Where the workspace has a folder of the owner's name, all of them lie in that folder. So an owner may run as another
 * user than the server, which cannot write the workspace itself. Short-lived owners, which ask for a parameter to be
 * set and end, have their files in the folder `requests`: every user who may write there may ask.
 *
 *     offset 0      struct rm_segment_header
 *     directory     header.object_count × struct rm_object, at header.directory_offset
 *     objects       each at its object.offset, page aligned
 *
 * The directory describes itself: a reader that knows only this file can list, type and read everything in it.
 *
 * ## Memory ordering
 * The owner fills the header, the directory and the constant part of every object, then stores `magic` with release
 * (rm_segment_finish in src/fabric/segment_file.c). A reader that loads `magic` with acquire and finds
 * RM_SEGMENT_MAGIC sees all of that (rm_segment_whole in src/fabric/segment_map.c). The Python package reads `magic` by
 * an aligned 8-byte load, which is an acquire on x86-64.
 *
 * An owner that adopts a segment leaves `magic` and every constant part alone, and sets the live parts back. It stores
 * `state` = RM_SEGMENT_LIVE with release after owner_pid, started_tai_ns and generation. A reader that stayed attached
 * loads `state` with acquire to see those of the new owner.
 */
#ifndef RINGMASTER_SEGMENT_H
#define RINGMASTER_SEGMENT_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>

/** What the owner says of its segment. */
enum rm_segment_state {
    /** The owner is making or adopting it. */
    RM_SEGMENT_BUILDING = 0,
    /** The owner runs, or was killed: the lock tells which. */
    RM_SEGMENT_LIVE = 1,
    /** The owner stopped in good order. The content is final. */
    RM_SEGMENT_CLOSED = 2,
    /** The file was removed, or a later owner made one of another layout. A reader attaches again. */
    RM_SEGMENT_REPLACED = 3,
};

/** The first bytes of a segment. Members that are not atomic are constant since the segment was finished. */
struct rm_segment_header {
    /** RM_SEGMENT_MAGIC. The owner stores it last. */
    _Atomic uint64_t magic;
    /** RM_ABI_VERSION of the owner. */
    uint32_t abi_version;
    /** sizeof(struct rm_segment_header) of the owner. */
    uint32_t header_bytes;
    /** Hash of the src/fabric/abi/abi.json that the owner was built with. */
    uint64_t layout_hash;
    /** Hash of the directory. An owner with an equal one can adopt the segment. */
    uint64_t directory_hash;
    /** Bytes of the whole file. */
    uint64_t segment_bytes;
    /** Bytes from the segment's start to the directory. */
    uint64_t directory_offset;
    /** Number of entries of the directory. */
    uint32_t object_count;
    /** sizeof(struct rm_object) of the owner. */
    uint32_t object_bytes;
    /** Instance of the owner: 1 for the first, one more for every owner that adopts the segment. */
    _Atomic uint64_t generation;
    /** enum rm_segment_state */
    _Atomic uint32_t state;
    /** Process that made or adopted the segment last. */
    _Atomic uint32_t owner_pid;
    /** When that process did so: nanoseconds of TAI since 1970-01-01. */
    _Atomic uint64_t started_tai_ns;
    /** Name of the owner: "server", "ring", … */
    char owner[RM_OWNER_BYTES];

    uint64_t reserved[10];
};

_Static_assert(sizeof(struct rm_segment_header) == 3 * RM_CACHE_LINE, "three cache lines, no padding");

/** What an object is. */
enum rm_object_kind {
    /** struct rm_stream and its slots: stream.h. */
    RM_OBJECT_STREAM = 1,
    /** struct rm_setpoints: setpoint.h. */
    RM_OBJECT_SETPOINTS = 3,
    /** struct rm_parameter and its values: parameter.h. */
    RM_OBJECT_PARAMETER = 4,
    /** An array of rm_counter: counter.h. */
    RM_OBJECT_COUNTERS = 5,
    /** struct rm_clock: clock.h. */
    RM_OBJECT_CLOCK = 6,
    /** struct rm_histogram: histogram.h. */
    RM_OBJECT_HISTOGRAM = 7,
    /** A UTF-8 text of `bytes` bytes. Constant. */
    RM_OBJECT_TEXT = 8,
    /** struct rm_group, parameters that change together: group.h. */
    RM_OBJECT_GROUP = 9,
    /** struct rm_requests, what this owner asks of others: request.h. */
    RM_OBJECT_REQUESTS = 10,
    /** struct rm_replies, what this owner answered: request.h. */
    RM_OBJECT_REPLIES = 11,
    /** struct rm_grant, what the guard has seen of an application: grant.h. */
    RM_OBJECT_GRANT = 12,
    /** An array of struct rm_intended, what each chain of supplies was sent last: intended.h. */
    RM_OBJECT_INTENDED = 13,
    /** struct rm_rows, its slots and its rows: rows.h. */
    RM_OBJECT_ROWS = 14,
    /** struct rm_images, its slots, maps and frames: images.h. */
    RM_OBJECT_IMAGES = 15,
    /** struct rm_standby_state, what one of two servers is: standby.h. */
    RM_OBJECT_STANDBY_STATE = 16,
    /** struct rm_standby_orders, what it may do: standby.h. */
    RM_OBJECT_STANDBY_ORDERS = 17,
    /** struct rm_state and its bytes, an application's state: state.h. */
    RM_OBJECT_STATE = 18,
};

/** Type of an object's elements, by NumPy's names. */
enum rm_element_type {
    /** Records of 64 bytes: record.h. */
    RM_ELEMENT_RECORD = 1,

    RM_ELEMENT_F64 = 2,
    RM_ELEMENT_F32 = 3,
    RM_ELEMENT_I64 = 4,
    RM_ELEMENT_I32 = 5,
    RM_ELEMENT_U64 = 6,
    RM_ELEMENT_U32 = 7,
    /** Bytes. They are UTF-8 when the object is a text, or a parameter with the unit "utf-8". */
    RM_ELEMENT_U8 = 8,
};

/** One entry of the directory. Constant once the segment is finished. */
struct rm_object {
    /** Name, unique in the workspace: "stream/bpm01/turn". */
    char name[RM_NAME_BYTES];
    /** Unit of the elements. Empty where lanes have units of their own. */
    char unit[RM_UNIT_BYTES];
    /** One sentence. */
    char description[RM_DESCRIPTION_BYTES];
    /** enum rm_object_kind */
    uint32_t kind;
    /** enum rm_element_type */
    uint32_t element_type;
    /** Number of elements in each dimension. shape[1] is 1 for one dimension. */
    uint64_t shape[2];
    /** Bytes from the segment's start to the object, a multiple of RM_PAGE_BYTES. */
    uint64_t offset;
    /** Bytes of the object, its head included. */
    uint64_t bytes;
    /** Of counters enum rm_counter_set_id, of streams enum rm_instrument_kind, else 0. */
    uint32_t variety;

    uint32_t reserved32;
    uint64_t reserved[7];
};

_Static_assert(sizeof(struct rm_object) == 5 * RM_CACHE_LINE, "five cache lines, no padding");

#endif
