// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/workspace.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ringmaster/truncation.h>

#include "base/fail.h"
#include "fabric/owner_folder.h"
#include "fabric/owner_names.h"
#include "fabric/segment_lock.h"
#include "fabric/segment_map.h"
#include "fabric/workspace_parts.h"

static char const SERVER[] = "server";

struct rm_workspace {
    char path[PATH_MAX];
    struct rm_mapped_segment segment[RM_OWNERS_MAX]; /**< the server's first, where there is one */
    size_t segment_count;
    /** Of the owner that rm_workspace_alive tells of. */
    size_t leading;
};

/** Maps what other owners have; those that are not whole are theirs to finish, not this reader's concern. */
static void map_others(struct rm_workspace *workspace) {
    struct rm_owner_names names;
    rm_owner_names_list(&names, workspace->path);
    for (size_t i = 0; i < names.count; ++i) {
        struct rm_mapped_segment mapped;
        if (strcmp(names.name[i], SERVER) != 0 && workspace->segment_count < RM_OWNERS_MAX &&
            rm_segment_map_readonly(workspace->path, names.name[i], &mapped, NULL) == RM_OK)
            workspace->segment[workspace->segment_count++] = mapped;
    }
    rm_owner_names_free(&names);
}

static enum rm_code attach_server(struct rm_workspace *workspace, char const *name, unsigned flags,
                                  struct rm_error *error) {
    struct stat status;
    if (stat(workspace->path, &status) != 0)
        return rm_fail(error, RM_E_ABSENT,
                       "workspace \"%s\" does not exist (%s): start a server with that workspace name, or set "
                       "RINGMASTER_WORKSPACES",
                       name, workspace->path);
    enum rm_code const code = rm_segment_map_readonly(workspace->path, SERVER, &workspace->segment[0], error);
    if (code != RM_OK)
        return code;
    workspace->segment_count = 1;
    if ((flags & RM_ATTACH_DEAD) != 0 || rm_workspace_alive(workspace))
        return RM_OK;
    uint32_t const state = atomic_load_explicit(&workspace->segment[0].header->state, memory_order_acquire);
    bool const begins = state == RM_SEGMENT_BUILDING || state == RM_SEGMENT_LIVE;
    if (begins && rm_segment_lock_held(workspace->path, SERVER))
        return rm_fail(error, RM_E_HALF_MADE,
                       "the server of workspace \"%s\" is starting just now; try again in a moment", name);
    return rm_fail(error, RM_E_DEAD,
                   "the server of workspace \"%s\" (process %u) has %s; start it again, or read what it left "
                   "(`ringmaster get --dead`, in C RM_ATTACH_DEAD)",
                   name, workspace->segment[0].header->owner_pid, state == RM_SEGMENT_CLOSED ? "stopped" : "died");
}

static bool segment_lives(struct rm_workspace const *workspace, struct rm_mapped_segment const *mapped) {
    char directory[PATH_MAX];
    rm_owner_directory(directory, workspace->path, mapped->owner);
    return rm_segment_lives(directory, mapped);
}

/** Maps the others where there is no server. False: none of them lives. */
static bool attach_without_server(struct rm_workspace *workspace) {
    for (size_t i = 0; i < workspace->segment_count; ++i)
        rm_segment_unmap(&workspace->segment[i]);
    workspace->segment_count = 0;
    map_others(workspace);
    for (size_t i = 0; i < workspace->segment_count; ++i)
        if (segment_lives(workspace, &workspace->segment[i])) {
            workspace->leading = i;
            return true;
        }
    return false;
}

static enum rm_code attach_owners(struct rm_workspace *workspace, char const *name, unsigned flags,
                                  struct rm_error *error) {
    enum rm_code const code = attach_server(workspace, name, flags, error);
    if (code == RM_OK)
        map_others(workspace);
    else if ((flags & RM_ATTACH_SERVERLESS) != 0 && attach_without_server(workspace))
        return RM_OK;
    return code;
}

enum rm_code rm_workspace_attach(char const *name, unsigned flags, struct rm_workspace **workspace,
                                 struct rm_error *error) {
    struct rm_workspace *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to attach to \"%s\"", name);
    enum rm_code code = rm_workspace_path(name, made->path, error);
    if (code == RM_OK)
        code = attach_owners(made, name, flags, error);
    if (code != RM_OK) {
        rm_workspace_detach(made);
        return code;
    }
    *workspace = made;
    return RM_OK;
}

void rm_workspace_detach(struct rm_workspace *workspace) {
    if (workspace == NULL)
        return;
    for (size_t i = 0; i < workspace->segment_count; ++i)
        rm_segment_unmap(&workspace->segment[i]);
    free(workspace);
}

char const *rm_workspace_cut(struct rm_workspace const *workspace) {
    for (size_t i = 0; i < workspace->segment_count; ++i)
        if (rm_truncation_cut(workspace->segment[i].header))
            return workspace->segment[i].owner;
    return NULL;
}

bool rm_workspace_alive(struct rm_workspace const *workspace) {
    return segment_lives(workspace, &workspace->segment[workspace->leading]);
}

uint64_t rm_workspace_generation(struct rm_workspace const *workspace) {
    return atomic_load_explicit(&workspace->segment[workspace->leading].header->generation, memory_order_relaxed);
}

size_t rm_workspace_object_count(struct rm_workspace const *workspace) {
    size_t count = 0;
    for (size_t i = 0; i < workspace->segment_count; ++i)
        count += workspace->segment[i].header->object_count;
    return count;
}

struct rm_object const *rm_workspace_object(struct rm_workspace const *workspace, size_t index, void const **memory) {
    for (size_t i = 0; i < workspace->segment_count; ++i) {
        struct rm_segment_header const *header = workspace->segment[i].header;
        uint8_t const *start = (uint8_t const *)header;
        if (index < header->object_count) {
            struct rm_object const *object =
                (struct rm_object const *)(start + header->directory_offset + index * header->object_bytes);
            if (memory != NULL)
                *memory = start + object->offset;
            return object;
        }
        index -= header->object_count;
    }
    return NULL;
}

/** Length of the common beginning: enough to point at a slip of the pen. */
static size_t name_likeness(char const *a, char const *b) {
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same])
        ++same;
    return same;
}

enum rm_code rm_workspace_find(struct rm_workspace const *workspace, enum rm_object_kind kind, char const *name,
                               struct rm_object const **object, void const **memory, struct rm_error *error) {
    char const *nearest = NULL;
    size_t best = 0;
    size_t const count = rm_workspace_object_count(workspace);
    for (size_t i = 0; i < count; ++i) {
        struct rm_object const *candidate = rm_workspace_object(workspace, i, memory);
        if (candidate == NULL)
            break; // a segment was cut meanwhile
        if (candidate->kind != kind)
            continue;
        if (strcmp(candidate->name, name) == 0) {
            *object = candidate;
            return RM_OK;
        }
        if (nearest == NULL || name_likeness(candidate->name, name) > best) {
            best = name_likeness(candidate->name, name);
            nearest = candidate->name;
        }
    }
    if (nearest == NULL)
        rm_fail(error, RM_E_NOT_FOUND, "%s: has no object of the kind of \"%s\"", workspace->path, name);
    else
        rm_fail(error, RM_E_NOT_FOUND, "%s: no \"%s\" of that kind; the nearest name is \"%s\"", workspace->path, name,
                nearest);
    return RM_E_NOT_FOUND;
}

/** True when a ring of so many records, so far behind `memory`, lies inside its segment. */
static bool slots_fit(struct rm_workspace const *workspace, void const *memory, uint64_t offset, uint64_t capacity,
                      uint64_t each) {
    struct rm_mapped_segment const *const holder = rm_workspace_holder(workspace, memory);
    uint64_t const room = holder->bytes - (uint64_t)((uint8_t const *)memory - (uint8_t const *)holder->header);
    return capacity > 0 && (capacity & (capacity - 1)) == 0 && offset <= room && capacity <= (room - offset) / each;
}

/** False where it is damaged. */
static bool stream_view_make(struct rm_workspace const *workspace, struct rm_stream const *stream,
                             struct rm_stream_view *view) {
    /* Read once, then checked: the owner may cut or change it at any instant. */
    uint64_t const slots = *(uint64_t const volatile *)&stream->slots_offset;
    uint64_t const capacity = *(uint64_t const volatile *)&stream->capacity;
    uint64_t const period = *(uint64_t const volatile *)&stream->period;
    if (!slots_fit(workspace, stream, slots, capacity, sizeof(struct rm_slot)) || period == 0)
        return false;
    *view = (struct rm_stream_view){
        .header = stream,
        .slot = (struct rm_slot const *)((uint8_t const *)stream + slots),
        .mask = capacity - 1,
        .period = period,
    };
    return true;
}

enum rm_code rm_workspace_stream(struct rm_workspace const *workspace, char const *name, struct rm_stream_view *view,
                                 struct rm_error *error) {
    char full[RM_NAME_BYTES + 8];
    snprintf(full, sizeof full, "stream/%.*s", RM_NAME_BYTES, name);
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(workspace, RM_OBJECT_STREAM, full, &object, &memory, error);
    if (code != RM_OK)
        return code;
    if (!stream_view_make(workspace, memory, view))
        return rm_fail(error, RM_E_HALF_MADE, "%s: stream \"%s\" is damaged; start its owner again", workspace->path,
                       name);
    return RM_OK;
}

enum rm_code rm_workspace_rows(struct rm_workspace const *workspace, char const *name, struct rm_rows_view *view,
                               struct rm_error *error) {
    char full[RM_NAME_BYTES + 8];
    snprintf(full, sizeof full, "rows/%.*s", RM_NAME_BYTES, name);
    struct rm_object const *object;
    void const *memory;
    enum rm_code const code = rm_workspace_find(workspace, RM_OBJECT_ROWS, full, &object, &memory, error);
    if (code != RM_OK)
        return code;
    struct rm_rows const *rows = memory;
    /* Read once, then checked, as those of the stream. */
    uint64_t const values = *(uint64_t const volatile *)&rows->values_offset;
    uint64_t const row_bytes = *(uint64_t const volatile *)&rows->row_bytes;
    uint64_t const width = *(uint64_t const volatile *)&rows->width;
    if (!stream_view_make(workspace, &rows->stream, &view->stream) || values % RM_CACHE_LINE != 0 || width == 0 ||
        row_bytes % RM_CACHE_LINE != 0 || width > row_bytes / sizeof(float) ||
        !slots_fit(workspace, memory, values, view->stream.mask + 1, row_bytes))
        return rm_fail(error, RM_E_HALF_MADE, "%s: rows \"%s\" are damaged; start their owner again", workspace->path,
                       name);
    view->header = rows;
    view->values = (uint8_t const *)memory + values;
    view->width = width;
    view->row_bytes = row_bytes;
    view->unit = object->unit;
    return RM_OK;
}

struct rm_mapped_segment const *rm_workspace_holder(struct rm_workspace const *workspace, void const *memory) {
    for (size_t i = 0; i < workspace->segment_count; ++i) {
        uint8_t const *start = (uint8_t const *)workspace->segment[i].header;
        if ((uint8_t const *)memory >= start && (uint8_t const *)memory < start + workspace->segment[i].bytes)
            return &workspace->segment[i];
    }
    return NULL;
}

bool rm_workspace_owner_alive(struct rm_workspace const *workspace, void const *memory) {
    struct rm_mapped_segment const *const holder = rm_workspace_holder(workspace, memory);
    return holder != NULL && segment_lives(workspace, holder);
}

struct rm_mapped_segment const *rm_workspace_segment(struct rm_workspace const *workspace, char const *owner) {
    for (size_t i = 0; i < workspace->segment_count; ++i)
        if (strcmp(workspace->segment[i].owner, owner) == 0)
            return &workspace->segment[i];
    return NULL;
}

char const *rm_workspace_directory(struct rm_workspace const *workspace) { return workspace->path; }
