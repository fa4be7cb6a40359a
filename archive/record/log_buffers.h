// SPDX-License-Identifier: Apache-2.0
/** The buffers of a log, and how blocks in them get to another file. */
#ifndef RM_RECORD_LOG_BUFFERS_H
#define RM_RECORD_LOG_BUFFERS_H

#include "log.h"

/** The buffer that blocks are appended to, a free one, and of those that are ready the one that came first. NULL: none. */
struct rm_log_buffer *rm_log_filling(struct rm_log *log);
struct rm_log_buffer *rm_log_free_buffer(struct rm_log *log);
struct rm_log_buffer *rm_log_oldest_ready(struct rm_log *log);

/** Pads up to whole sectors by a block of zeros. `data` stands at `offset` of the file. */
void rm_log_pad(uint8_t *data, size_t *fill, struct rm_log_file *file, uint64_t offset);

/** Makes the buffer's blocks those of the file, behind what it has. */
void rm_log_restamp(struct rm_log_buffer *buffer, struct rm_log_file *file);

#endif
