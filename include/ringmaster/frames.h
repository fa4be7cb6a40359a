// SPDX-License-Identifier: Apache-2.0
/** Whole frames of cameras, wherever their packets come in: the library of programs that want images.
 *
 *     struct rm_frames *frames;
 *     if (rm_frames_open("cameras.yaml", &frames, &error) != RM_OK)
 *         errx(1, "%s", error.text);
 *     struct rm_frame frame;
 *     uint32_t camera;
 *     enum rm_frame_read read;
 *     while ((read = rm_frames_next(frames, 1000000000, &camera, &frame)) != RM_FRAME_ENDED) {
 *         if (read != RM_FRAME_OK)
 *             continue; // none came in this second
 *         …
 *         rm_frames_release(frames, camera, &frame);
 *     }
 *     rm_frames_close(frames);
 *
 * The file describes ports and cameras (docs/frames.md). Sockets of the kernel or a packet port are a word in it, and
 * nothing in a program. Frames lie in shared memory (images.h), which several programs read at once:
 *
 *  - where a receiver of the file's workspace runs (`ringmaster cameras run cameras.yaml`), the program attaches to it;
 *  - where none does, this library receives in threads of its own, in this process, and others may attach to it.
 *
 * Either way a frame is a lease on memory that lies ready, and a program never sees the difference.
 */
#ifndef RINGMASTER_FRAMES_H
#define RINGMASTER_FRAMES_H

#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/images.h>

/** The cameras of a file, or of a workspace. For one thread. */
struct rm_frames;

/** Opens all cameras of a file, and receives in this process where no receiver of its workspace lives. */
enum rm_code rm_frames_open(char const *file, struct rm_frames **frames, struct rm_error *error);

/** Opens all cameras of a workspace in which a receiver lives. RM_E_ABSENT: there is none. */
enum rm_code rm_frames_attach(char const *workspace, struct rm_frames **frames, struct rm_error *error);

/** Releases all frames, and ends the receiver in this process where there is one. NULL is allowed. */
void rm_frames_close(struct rm_frames *frames);

/** Number of cameras; the name of one, "cam01"; and the index of that name, or the count. */
uint32_t rm_frames_count(struct rm_frames const *frames);
char const *rm_frames_name(struct rm_frames const *frames, uint32_t camera);
uint32_t rm_frames_find(struct rm_frames const *frames, char const *name);

/** The reader of a camera, for rm_images_next, rm_images_newest and rm_images_release. */
struct rm_images_reader *rm_frames_reader(struct rm_frames *frames, uint32_t camera);

/** The next frame of any camera, in the order in which they came as far as they wait; `*camera` is its index. Only with
 * RM_FRAME_OK is there one to release. RM_FRAME_NO_LEASE comes at once: release a frame before the next call. */
enum rm_frame_read rm_frames_next(struct rm_frames *frames, uint64_t timeout_ns, uint32_t *camera,
                                  struct rm_frame *frame);
void rm_frames_release(struct rm_frames *frames, uint32_t camera, struct rm_frame *frame);

#endif
