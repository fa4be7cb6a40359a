// SPDX-License-Identifier: Apache-2.0
/** Images: the frames of one camera in shared memory, lying ready for several readers, none of which copies them.
 *
 * An object of images has up to RM_IMAGE_SLOTS_MAX slots. A slot is one frame: its description (struct rm_image_slot),
 * a bit for each of its fragments, and its bytes, which begin at a page. The owner's receiver puts fragments to their
 * places in a slot, and publishes it: the frame gets the next sequence number, from 1 on. Later it takes the slot back
 * that was published first of those that no reader has leased.
 *
 *     struct rm_images_view cam;
 *     if (rm_workspace_images(workspace, "cam01", &cam, &error) != RM_OK) …
 *     struct rm_images_reader *reader;
 *     if (rm_images_reader_new(&cam, &reader, &error) != RM_OK) …
 *     struct rm_frame frame;
 *     while (rm_images_next(reader, 1000000000, &frame) == RM_FRAME_OK) {
 *         … frame.bytes[0 … frame.slot->length - 1] …
 *         rm_images_release(reader, &frame);
 *     }
 *     rm_images_reader_free(reader);
 *
 * ## A lease
 * A reader in place leases the frame's slot: until the release it is not taken back. A lease is a lock of the
 * kernel on a byte of the file `OWNER.leases` beside the segment (an fcntl open file description lock, as that of
 * the owner: segment.h). So a reader needs no memory that it may write, and a reader that is killed holds nothing.
 *
 *     byte lease_base + s              slot s: readers lock it shared, the writer exclusively while the slot is its own
 *     byte lease_base + 64 + t         ticket t < lease_count: a lease holds one of them exclusively
 *
 * There are fewer tickets than slots, by RM_IMAGE_SLOTS_OWN. So readers that never release cannot stop the writer: what
 * they hold is old, and the newest frames go on coming. One reader holds at most half of the tickets, or two, so one
 * that never releases does not stop the others either. A reader that finds no ticket is told so
 * (RM_FRAME_NO_LEASE), until a lease is released.
 *
 * Readers lock tickets exclusively, so every user who may read the segment may write the file of leases. The kernel's
 * locks are advisory: such a user can stop the writer on purpose by locking all slots, but can change no frame.
 *
 * ## When the owner ends
 * What it published stays, and is leased as before; RM_FRAME_ENDED comes when there is nothing more. An owner that adopts
 * the segment goes on with the next sequence. It shows no frame of the owner before, and leaves those alone that
 * readers still lease.
 *
 * ## Memory ordering
 * The writer has the slot's byte exclusively. It stores `sequence` = 0, and then whatever it likes. It publishes thus:
 * description, map and bytes; `sequence` with release; the lock is given back; place[sequence & 63] with release;
 * `newest` with release; then it wakes who sleeps on `bell` (rm_images_publish in src/fabric/images_writer.c).
 *
 * A reader loads `newest` with acquire, and the place of a sequence; it locks the slot's byte shared; and loads the
 * slot's `sequence` with acquire. Is it the one looked for, then the acquire pairs with the release above, and all of
 * the frame is seen. It stays: the writer would need the lock before its next store. Is it another one, the frame is
 * gone, and the lock is given back.
 *
 * ## What is lost, and who tells
 * Sequences have no gaps. Frames that the camera sent and that were never put together show in `number`, as a step
 * above one, and in the camera's counters. Frames that a reader came too late for are counted by that reader
 * (struct rm_frame: `passed_over`).
 */
#ifndef RINGMASTER_IMAGES_H
#define RINGMASTER_IMAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>
#include <ringmaster/segment.h>

enum {
    /** Most slots. */
    RM_IMAGE_SLOTS_MAX = 64,
    /** Slots that readers cannot lease: frames in flight, the newest one, and the one to fill from. */
    RM_IMAGE_SLOTS_OWN = 5,
};

/** What a frame is. */
enum rm_image_status {
    /** All fragments came. */
    RM_IMAGE_WHOLE = 0,
    /** Some did not: zeros stand in their places. */
    RM_IMAGE_INCOMPLETE = 1,
    /** Some did not: the bytes of the frame before stand in their places. */
    RM_IMAGE_FILLED = 2,
};

enum rm_image_marks {
    /** The geometry is known: format, width, height, offsets, padding. */
    RM_IMAGE_HAS_GEOMETRY = 1,
    /** `turn` is known. */
    RM_IMAGE_HAS_TURN = 2,
    /** `turn` came with the frame. Without this flag it is the turn in which its first fragment arrived. */
    RM_IMAGE_TURN_SENT = 4,
    /** Another geometry than the frame before. */
    RM_IMAGE_GEOMETRY_CHANGED = 8,
    /** `exposure_start_ns` and `exposure_end_ns` are known. */
    RM_IMAGE_HAS_EXPOSURE = 16,
};

/** The description of a frame. All but `sequence` is plain memory, which a lease keeps as it is. */
struct rm_image_slot {
    /** Of the frame that lies here; 0: none. */
    _Atomic uint64_t sequence;
    /** As the camera counts. */
    uint64_t number;
    /** The device's time stamp, in its own units. */
    uint64_t device_time;
    /** The turn of the exposure, or of the first fragment's arrival; else RM_TURN_NONE. */
    uint64_t turn;
    /** Nanoseconds of the camera's clock. */
    uint64_t exposure_start_ns, exposure_end_ns;
    /** TSC at the arrival of the first fragment and of the last one; when the frame closed; and when it was published. */
    uint64_t first_tsc, last_tsc, closed_tsc, published_tsc;
    /** Nanoseconds of TAI since 1970-01-01 at `first_tsc`, by this host's clock. */
    uint64_t tai_ns;
    /** Bytes of the frame. */
    uint64_t length;
    /** PFNC's number: src/frames/pixels.h. 0 without geometry. */
    uint32_t pixel_format;
    /** Pixels of a line, and lines. */
    uint32_t width, height;
    /** Of the first pixel in the sensor, pixels. */
    uint32_t offset_x, offset_y;
    /** Bytes behind each line, and behind the last. */
    uint32_t padding_x, padding_y;
    /** enum rm_image_status */
    uint32_t status;
    /** enum rm_image_marks */
    uint32_t flags;
    /** Of each fragment but the last; 0: none came. */
    uint32_t fragment_bytes;
    /** Of the frame, and those of them that came. */
    uint32_t fragments, placed;
    /** Fragments that were asked for again. */
    uint32_t resent;

    uint32_t reserved32;
    uint64_t reserved[5];
};

_Static_assert(sizeof(struct rm_image_slot) == 3 * RM_CACHE_LINE, "three cache lines, no padding");

/** The head of an object of images. */
struct rm_images {
    /* Constant since the segment was finished. */

    /** Number of slots, and of tickets. */
    uint32_t slot_count, lease_count;
    /** Bytes from the start of this struct to the first description, the first map and the first byte. */
    uint64_t slots_offset, maps_offset, bytes_offset;
    /** Bytes from a map to the next, and from a frame's first byte to the next one's: a multiple of RM_PAGE_BYTES. */
    uint64_t map_bytes, frame_bytes;
    /** First byte in the file of leases. */
    uint64_t lease_base;

    uint64_t reserved_constant[9];

    /* Written by the owner, once per frame. */

    /** The newest published sequence; 0: none yet. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t newest;
    /** The lower half of `newest`, as a futex. */
    _Atomic uint32_t bell;

    uint32_t reserved32;
    uint64_t reserved_live[6];
    /** place[n & 63]: sequence n << 8 | its slot, for the newest of those n. */
    _Atomic uint64_t place[RM_IMAGE_SLOTS_MAX];
};

/** Images as a reader holds them: places in its read-only mapping, with their sizes as checked when the workspace was
 * attached. */
struct rm_images_view {
    struct rm_images const *header;
    struct rm_image_slot const *slot;
    uint64_t const *maps;
    uint8_t const *bytes;
    uint64_t map_bytes, frame_bytes, lease_base;
    uint32_t slot_count, lease_count;
    /** The segment, and which file it is: they tell whether its owner lives. */
    struct rm_segment_header const *segment;
    uint64_t device, inode;
    /** The file of the leases. */
    char lease_path[256];
};

/** A frame that is leased. */
struct rm_frame {
    uint64_t sequence;
    /** Its description. */
    struct rm_image_slot const *slot;
    /** slot->length of them. */
    uint8_t const *bytes;
    /** A bit for each of slot->fragments: set where it came. */
    uint64_t const *map;
    /** Frames between the one before and this one that this reader came too late for. */
    uint64_t passed_over;
    /** Which ticket it holds. */
    uint32_t ticket;
};

enum rm_frame_read {
    RM_FRAME_OK = 0,
    /** There is no newer one in this time. */
    RM_FRAME_NOT_YET,
    /** All tickets are held, by this reader or by others. */
    RM_FRAME_NO_LEASE,
    /** The owner has ended: attach again. */
    RM_FRAME_ENDED,
};

struct rm_images_reader;

/** A reader of the images, which begins with the next frame that is published. It holds an open file of the leases, and is
 * for one thread. The child of a fork shares its locks, so it releases nothing with it. */
enum rm_code rm_images_reader_new(struct rm_images_view const *view, struct rm_images_reader **reader,
                                  struct rm_error *error);

/** Lets it begin behind a frame that was had before: the next one is `sequence` + 1, or the oldest still there. Where so
 * many were not published yet, it is another owner's numbering, and it begins with all that is there. */
void rm_images_begin_after(struct rm_images_reader *reader, uint64_t sequence);

/** Releases all that it has leased, too. NULL is allowed. */
void rm_images_reader_free(struct rm_images_reader *reader);

/** Leases the frame after the one that this reader had last, or the oldest still there if that is gone. Waits up to
 * `timeout_ns` for it: 0 looks only. That the owner was killed is noticed within 50 ms. */
enum rm_frame_read rm_images_next(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame);

/** Leases the newest frame, if this reader has not had it yet; those before it count as passed over. */
enum rm_frame_read rm_images_newest(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame);

/** Gives a lease back; `frame` is worth nothing then. */
void rm_images_release(struct rm_images_reader *reader, struct rm_frame *frame);

/** Sleeps until one of `count` readers, 1 to 128, has a frame that it has not looked at, at most `timeout_ns`. Returns
 * the least index of such a reader, or `count`. The end of an owner does not
 * wake it: rm_images_next tells of that. */
uint32_t rm_images_wait(struct rm_images_reader *const *readers, uint32_t count, uint64_t timeout_ns);

#endif
