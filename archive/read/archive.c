// SPDX-License-Identifier: Apache-2.0
/** Opening and closing an archive, and what it says of itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/format/block.h"
#include "archive_parts.h"
#include "base/fail.h"

struct rm_stored_file *rm_archive_stored_file(struct rm_archive const *archive, size_t i) {
    return ((struct rm_stored_file **)archive->files.items)[i];
}

struct rm_object_parts *rm_archive_parts(struct rm_archive const *archive, size_t i) {
    return ((struct rm_object_parts **)archive->objects.items)[i];
}

/** Two hexadecimal digits of a UUID; its hyphens are passed over. */
static bool uuid_read(char const *text, uint8_t uuid[16]) {
    for (int i = 0; i < 16; ++i) {
        unsigned byte = 0;
        int used = 0;
        text += *text == '-';
        if (sscanf(text, "%2x%n", &byte, &used) != 1 || used != 2)
            return false;
        uuid[i] = (uint8_t)byte;
        text += used;
    }
    return true;
}

/** Reads the file `archive` of a directory, where there is one. */
static enum rm_code archive_read_identity(struct rm_archive *archive, struct rm_error *error) {
    char path[RM_ARCHIVE_PATH_BYTES + 16], line[64] = "";
    snprintf(path, sizeof path, "%s/archive", archive->path);
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return errno == ENOENT || errno == ENOTDIR ? RM_OK
                                                   : rm_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %m", path);
    bool const got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    unsigned version = 0;
    int used = 0;
    if (!got || sscanf(line, "RMARCHIVE %u %n", &version, &used) != 1 || used == 0)
        return rm_fail(error, RM_E_NOT_FOUND,
                       "%s: does not say that this is an archive: expected \"RMARCHIVE %u UUID\"", path,
                       RM_ARCHIVE_VERSION);
    if (!rm_archive_reads(version))
        return rm_fail(error, RM_E_VERSION, "%s: the archive is of version %u, this program reads %u to %u", path,
                       version, RM_ARCHIVE_VERSION_OLDEST, RM_ARCHIVE_VERSION);
    if (!uuid_read(line + used, archive->uuid))
        return rm_fail(error, RM_E_NOT_FOUND, "%s: its UUID is none: 32 hexadecimal digits were expected", path);
    archive->has_uuid = true;
    return RM_OK;
}

enum rm_code rm_archive_refresh(struct rm_archive *archive, struct rm_error *error) {
    enum rm_code const code = rm_archive_find_files(archive, error);
    return code != RM_OK ? code : rm_archive_catalogue(archive, error);
}

static enum rm_code archive_begin(struct rm_archive *archive, struct rm_error *error) {
    struct stat status;
    if (stat(archive->path, &status) != 0)
        return rm_fail(error, errno == ENOENT ? RM_E_ABSENT : RM_E_SYSTEM, "%s: cannot be opened: %m", archive->path);
    enum rm_code code = archive_read_identity(archive, error);
    bool const is_archive = archive->has_uuid;
    if (code == RM_OK)
        code = rm_archive_refresh(archive, error);
    if (code != RM_OK || is_archive || archive->files.count > 0)
        return code;
    struct rm_archive_foreign const *const foreign = archive->foreigns.items;
    bool const is_file = !S_ISDIR(status.st_mode) && archive->foreigns.count > 0;
    return rm_fail(error, RM_E_NOT_FOUND, "%s: is no archive: %s", archive->path,
                   is_file ? foreign->what : "there is no file `archive` and no log in it");
}

enum rm_code rm_archive_open(char const *path, struct rm_archive **archive, struct rm_error *error) {
    struct rm_archive *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to open it", path);
    made->open_file = UINT32_MAX;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        --length;
    enum rm_code code = RM_OK;
    if (length >= sizeof made->path)
        code = rm_fail(error, RM_E_ARGUMENT, "%.100s…: the path is longer than %zu bytes", path, sizeof made->path - 1);
    else
        memcpy(made->path, path, length);
    if (code == RM_OK)
        code = archive_begin(made, error);
    if (code == RM_OK)
        *archive = made;
    else
        rm_archive_close(made);
    return code;
}

void rm_archive_close(struct rm_archive *archive) {
    if (archive == NULL)
        return;
    if (archive->open_file != UINT32_MAX)
        close(archive->descriptor);
    for (size_t i = 0; i < archive->files.count; ++i) {
        rm_stored_file_free(rm_archive_stored_file(archive, i));
        free(rm_archive_stored_file(archive, i));
    }
    for (size_t i = 0; i < archive->objects.count; ++i) {
        rm_growing_free(&rm_archive_parts(archive, i)->blocks);
        rm_growing_free(&rm_archive_parts(archive, i)->runs);
        free(rm_archive_parts(archive, i));
    }
    struct rm_growing *const all[] = {&archive->files, &archive->objects, &archive->file_list,
                                      &archive->marks, &archive->damages, &archive->foreigns};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        rm_growing_free(all[i]);
    free(archive);
}

uint32_t rm_archive_object_count(struct rm_archive const *archive) { return (uint32_t)archive->objects.count; }

struct rm_archive_object const *rm_archive_object_at(struct rm_archive const *archive, uint32_t object) {
    return object < archive->objects.count ? &rm_archive_parts(archive, object)->public : NULL;
}

/** Of two objects of one name, the one that was recorded last. */
static bool object_is_newer(struct rm_archive_object const *one, struct rm_archive_object const *other) {
    uint64_t const last = one->run_count > 0 ? one->run[one->run_count - 1].last_tai_ns : 0;
    return other->run_count == 0 || last >= other->run[other->run_count - 1].last_tai_ns;
}

enum rm_code rm_archive_find(struct rm_archive const *archive, char const *name, uint32_t kind, uint64_t period_turns,
                             uint32_t *object, struct rm_error *error) {
    struct rm_archive_object const *best = NULL;
    for (uint32_t i = 0; i < archive->objects.count; ++i) {
        struct rm_archive_object const *const it = &rm_archive_parts(archive, i)->public;
        bool const fits = it->is.kind == kind && strcmp(it->is.name, name) == 0 &&
                          (period_turns == 0 || it->is.period_turns == period_turns);
        if (!fits || (best != NULL && !object_is_newer(it, best)))
            continue;
        best = it;
        *object = i;
    }
    return best != NULL ? RM_OK : rm_fail(error, RM_E_NOT_FOUND, "%s: has no %s", archive->path, name);
}

struct rm_archive_file const *rm_archive_files(struct rm_archive const *archive, uint32_t *count) {
    *count = (uint32_t)archive->file_list.count;
    return archive->file_list.items;
}

struct rm_archive_mark const *rm_archive_marks(struct rm_archive const *archive, uint32_t *count) {
    *count = (uint32_t)archive->marks.count;
    return archive->marks.items;
}

struct rm_archive_damage const *rm_archive_damages(struct rm_archive const *archive, uint32_t *count) {
    *count = (uint32_t)archive->damages.count;
    return archive->damages.items;
}

struct rm_archive_foreign const *rm_archive_foreigns(struct rm_archive const *archive, uint32_t *count) {
    *count = (uint32_t)archive->foreigns.count;
    return archive->foreigns.items;
}
