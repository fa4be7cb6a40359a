// SPDX-License-Identifier: Apache-2.0
#include "recorded_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "recorded_file.h"

/** One file, as a map. */
struct rm_recorded_map {
    struct rm_recorded_head const *head;
    size_t bytes;
    struct rm_record const *record;
    size_t count;
};

struct rm_recorded_folder {
    char const *path;
    struct rm_recorded_map *map;
    uint32_t count;
};

/* ── opening ── */

/** Names and units end; code that reads them need not look. */
static bool recorded_lanes_are_whole(struct rm_stream const *stream) {
    bool good = stream->lane_count <= RM_LANES && memchr(stream->filter, '\0', sizeof stream->filter) != NULL;
    for (uint32_t l = 0; good && l < RM_LANES; ++l)
        good = memchr(stream->lane[l].name, '\0', sizeof stream->lane[l].name) != NULL &&
               memchr(stream->lane[l].unit, '\0', sizeof stream->lane[l].unit) != NULL;
    return good;
}

static enum rm_code recorded_map_check_head(struct rm_recorded_map const *map, char const *path,
                                            struct rm_error *error) {
    struct rm_recorded_head const *head = map->head;
    if (map->bytes < RM_RECORDED_HEAD_BYTES || head->magic != RM_RECORDED_MAGIC)
        return rm_fail(error, RM_E_CONFIG, "%s: it does not begin as a recorded stream", path);
    if (head->version != RM_RECORDED_VERSION || head->abi_version != RM_ABI_VERSION)
        return rm_fail(error, RM_E_VERSION, "%s: version %u with ABI version %u, expected %u with %u", path,
                       head->version, head->abi_version, (unsigned)RM_RECORDED_VERSION, RM_ABI_VERSION);
    if (memchr(head->name, '\0', sizeof head->name) == NULL || head->stream.period == 0 ||
        head->stream.period >= RM_TURN_END || !recorded_lanes_are_whole(&head->stream))
        return rm_fail(error, RM_E_CONFIG, "%s: its name, period or lanes cannot be", path);
    return RM_OK;
}

/** Whole records, whose turns grow by multiples of the period. */
static enum rm_code recorded_map_check_records(struct rm_recorded_map *map, char const *path, struct rm_error *error) {
    size_t const bytes = map->bytes - RM_RECORDED_HEAD_BYTES;
    map->count = bytes / sizeof *map->record;
    map->record = (struct rm_record const *)(void const *)((char const *)map->head + RM_RECORDED_HEAD_BYTES);
    if (bytes % sizeof *map->record != 0)
        return rm_fail(error, RM_E_CONFIG, "%s: it ends inside record %zu", path, map->count);
    uint64_t const period = map->head->stream.period;
    for (size_t i = 0; i < map->count; ++i) {
        rm_turn const turn = map->record[i].turn;
        if (turn >= RM_TURN_END || turn % period != 0 || (i > 0 && turn <= map->record[i - 1].turn))
            return rm_fail(error, RM_E_CONFIG,
                           "%s: record %zu has turn %llu, expected a multiple of %llu above that of the one before",
                           path, i, (unsigned long long)turn, (unsigned long long)period);
    }
    return RM_OK;
}

static enum rm_code recorded_map_open(struct rm_recorded_map *map, char const *path, struct rm_error *error) {
    struct stat about;
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
        if (file >= 0)
            close(file);
        return RM_E_SYSTEM;
    }
    map->bytes = (size_t)about.st_size;
    void *const memory = map->bytes > 0 ? mmap(NULL, map->bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (memory == MAP_FAILED)
        return rm_fail(error, RM_E_CONFIG, "%s: it cannot be mapped: %s", path,
                       map->bytes > 0 ? strerror(errno) : "it is empty");
    map->head = memory;
    enum rm_code const code = recorded_map_check_head(map, path, error);
    return code == RM_OK ? recorded_map_check_records(map, path, error) : code;
}

static enum rm_code recorded_folder_map(struct rm_recorded_folder *folder, glob_t const *found,
                                        struct rm_error *error) {
    folder->map = calloc(found->gl_pathc + 1, sizeof *folder->map);
    if (folder->map == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %zu streams", found->gl_pathc);
    enum rm_code code = RM_OK;
    for (size_t i = 0; code == RM_OK && i < found->gl_pathc; ++i)
        code = recorded_map_open(&folder->map[folder->count++], found->gl_pathv[i], error);
    return code;
}

enum rm_code rm_recorded_folder_open(char const *path, struct rm_recorded_folder **folder, struct rm_error *error) {
    char pattern[PATH_MAX];
    glob_t found = {0};
    struct rm_recorded_folder *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %s", path);
    made->path = path;
    snprintf(pattern, sizeof pattern, "%s/*" RM_RECORDED_SUFFIX, path);
    enum rm_code code = glob(pattern, 0, NULL, &found) == 0
                            ? recorded_folder_map(made, &found, error)
                            : rm_fail(error, RM_E_NOT_FOUND,
                                      "%s: no *%s in it; `ringmaster simulate --record decisions` "
                                      "makes some",
                                      path, RM_RECORDED_SUFFIX);
    globfree(&found);
    if (code == RM_OK)
        *folder = made;
    else
        rm_recorded_folder_close(made);
    return code;
}

void rm_recorded_folder_close(struct rm_recorded_folder *folder) {
    if (folder == NULL)
        return;
    for (uint32_t i = 0; i < folder->count; ++i)
        if (folder->map[i].head != NULL)
            munmap((void *)(uintptr_t)folder->map[i].head, folder->map[i].bytes);
    free(folder->map);
    free(folder);
}

/* ── what a replay asks ── */

static enum rm_code recorded_folder_find(void *context, char const *name, struct rm_recorded_stream *found,
                                         struct rm_error *error) {
    struct rm_recorded_folder const *folder = context;
    for (uint32_t i = 0; i < folder->count; ++i) {
        struct rm_recorded_map const *map = &folder->map[i];
        if (strcmp(map->head->name, name) != 0)
            continue;
        *found = (struct rm_recorded_stream){
            .stream = map->head->stream,
            .number = i,
            .first = map->count > 0 ? map->record[0].turn : RM_TURN_NONE,
            .last = map->count > 0 ? map->record[map->count - 1].turn : RM_TURN_NONE,
        };
        return RM_OK;
    }
    struct rm_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < folder->count; ++i)
        rm_nearest_offer(&nearest, folder->map[i].head->name);
    if (nearest.name != NULL)
        return rm_fail(error, RM_E_NOT_FOUND, "%s: no stream %s in it; did you mean %s?", folder->path, name,
                       nearest.name);
    return rm_fail(error, RM_E_NOT_FOUND, "%s: no stream %s in it", folder->path, name);
}

/** Index of the first record at or behind `turn`. */
static size_t recorded_map_search(struct rm_recorded_map const *map, rm_turn turn) {
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t const middle = low + (high - low) / 2;
        if (map->record[middle].turn < turn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum rm_code recorded_folder_read(void *context, uint32_t number, rm_turn first, size_t count,
                                         struct rm_record *records, struct rm_error *error) {
    (void)error;
    struct rm_recorded_map const *map = &((struct rm_recorded_folder const *)context)->map[number];
    size_t next = recorded_map_search(map, first);
    for (size_t i = 0; i < count; ++i) {
        rm_turn const turn = first + i * map->head->stream.period;
        bool const is_there = next < map->count && map->record[next].turn == turn;
        records[i] = is_there ? map->record[next++] : (struct rm_record){.turn = RM_TURN_NONE};
    }
    return RM_OK;
}

struct rm_recorded_source rm_recorded_folder_source(struct rm_recorded_folder *folder) {
    return (struct rm_recorded_source){.find = recorded_folder_find, .read = recorded_folder_read, .context = folder};
}
