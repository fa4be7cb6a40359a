// SPDX-License-Identifier: Apache-2.0
/* Streams and row rings of an owner (ringmaster/owner.h): a writer for each. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "fabric/owner_parts.h"
#include "fabric/rows_writer.h"

static bool owner_has(struct rm_owner const *owner, rm_owner_index index, enum rm_object_kind kind) {
    return index < owner->plan.count && owner->plan.planned[index].object.kind == kind;
}

/** The stream that an object is, or has for its rows; or NULL. */
static struct rm_stream *owner_stream(struct rm_owner const *owner, rm_owner_index index) {
    void *const memory = rm_segment_memory(&owner->segment, &owner->plan, index);
    if (owner_has(owner, index, RM_OBJECT_STREAM))
        return memory;
    return owner_has(owner, index, RM_OBJECT_ROWS) ? &((struct rm_rows *)memory)->stream : NULL;
}

/** A writer of the stream, or NULL where there is no memory for it. */
static struct rm_stream_writer *writer_of(struct rm_stream *stream) {
    struct rm_stream_writer *writer = rm_zeroed(1, sizeof *writer);
    if (writer != NULL && rm_stream_writer_open(writer, stream, 0))
        return writer;
    free(writer);
    return NULL;
}

enum rm_code rm_owner_streams_open(struct rm_owner *owner, struct rm_error *error) {
    owner->writer = calloc(owner->plan.count + 1, sizeof *owner->writer);
    bool good = owner->writer != NULL;
    for (rm_owner_index i = 0; good && i < owner->plan.count; ++i) {
        struct rm_stream *const stream = owner_stream(owner, i);
        if (stream == NULL)
            continue;
        owner->writer[i] = writer_of(stream);
        good = owner->writer[i] != NULL;
    }
    return good ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for the streams of \"%s\"", owner->name);
}

void rm_owner_streams_close(struct rm_owner *owner) {
    for (rm_owner_index i = 0; owner->writer != NULL && i < owner->plan.count; ++i) {
        if (owner->writer[i] != NULL)
            rm_stream_writer_close(owner->writer[i]);
        free(owner->writer[i]);
    }
    free((void *)owner->writer);
    owner->writer = NULL;
}

bool rm_owner_stream_put(struct rm_owner *owner, rm_owner_index index, struct rm_record const *record, uint64_t tsc) {
    if (!owner->open || owner->writer == NULL || !owner_has(owner, index, RM_OBJECT_STREAM) ||
        record->turn >= RM_TURN_END)
        return false;
    struct rm_stream_writer *writer = owner->writer[index];
    if (writer->head != RM_TURN_NONE && record->turn <= writer->head)
        rm_stream_writer_restart(writer);
    rm_stream_writer_put(writer, record);
    rm_stream_writer_publish(writer, tsc);
    return true;
}

bool rm_owner_rows_put(struct rm_owner *owner, rm_owner_index index, rm_turn turn, uint32_t quality,
                       float const *values, uint64_t tsc) {
    if (!owner->open || owner->writer == NULL || !owner_has(owner, index, RM_OBJECT_ROWS) || turn >= RM_TURN_END)
        return false;
    rm_rows_put(owner->writer[index], rm_segment_memory(&owner->segment, &owner->plan, index), turn, quality, values,
                tsc);
    return true;
}
