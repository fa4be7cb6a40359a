// SPDX-License-Identifier: Apache-2.0
/** The disk as the system has it: O_DIRECT, by io_uring. */
#ifndef RM_RECORD_DISK_URING_H
#define RM_RECORD_DISK_URING_H

#include <sys/uio.h>

#include <ringmaster/error.h>

#include "disk.h"

/** Opens it. RM_E_SYSTEM where the system has no io_uring. */
enum rm_code rm_disk_uring_open(struct rm_disk *disk, struct rm_error *error);
void rm_disk_uring_close(struct rm_disk *disk);

/** Registers the buffers of the writes to come with the kernel, if it lets us, in place of those before: that spares it
 * to find their pages at each write. Nothing is in flight. */
void rm_disk_uring_buffers(struct rm_disk *disk, struct iovec const *buffers, unsigned count);

#endif
