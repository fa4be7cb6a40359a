// SPDX-License-Identifier: Apache-2.0
/** The files below an archive's path. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_parts.h"
#include "base/fail.h"

enum {
    /** pinned/EVENT/LOG/FILE */
    DEEPEST = 4,
};

static bool name_ends(char const *name, char const *ending) {
    size_t const length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/** What the recorder, live HDF5 files and the post-mortem keep beside the logs. */
static bool entry_is_beside(FTSENT const *entry) {
    if (name_ends(entry->fts_name, ".rmlog.new") || name_ends(entry->fts_name, ".rmlog.h5"))
        return true;
    bool const in_event = entry->fts_level == 3 && strstr(entry->fts_path, "/pinned/") != NULL;
    if (in_event || name_ends(entry->fts_name, ".rmlog"))
        return in_event;
    char const *const folder = entry->fts_level > 0 ? entry->fts_parent->fts_name : "";
    return entry->fts_level == 1 || strcmp(folder, "pinned") == 0 || strcmp(folder, "memory") == 0;
}

static enum rm_code archive_add_foreign(struct rm_archive *archive, char const *path, char const *what,
                                        struct rm_error *error) {
    struct rm_archive_foreign *const foreign = rm_growing_add(&archive->foreigns, sizeof *foreign);
    if (foreign == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the list of its files", archive->path);
    snprintf(foreign->path, sizeof foreign->path, "%s", path);
    snprintf(foreign->what, sizeof foreign->what, "%s", what);
    return RM_OK;
}

static struct rm_stored_file *archive_file_of_path(struct rm_archive const *archive, char const *path) {
    for (size_t i = 0; i < archive->files.count; ++i)
        if (strcmp(rm_archive_stored_file(archive, i)->info.path, path) == 0)
            return rm_archive_stored_file(archive, i);
    return NULL;
}

/** A file that is in the archive twice, by hard links or stored anew, is one: log and number say which. */
static struct rm_stored_file *archive_file_of_number(struct rm_archive const *archive,
                                                     struct rm_log_header const *header) {
    for (size_t i = 0; i < archive->files.count; ++i) {
        struct rm_stored_file *const file = rm_archive_stored_file(archive, i);
        if (file->info.header.number == header->number && strcmp(file->info.header.log, header->log) == 0)
            return file;
    }
    return NULL;
}

/** Adds a file to the list; NULL: no memory. */
static struct rm_stored_file *archive_add_file(struct rm_archive *archive, struct rm_stored_file const *found) {
    struct rm_stored_file **const added = rm_growing_add(&archive->files, sizeof *added);
    struct rm_stored_file *const file = added == NULL ? NULL : malloc(sizeof *file);
    if (file == NULL) {
        archive->files.count -= added != NULL;
        return NULL;
    }
    *file = *found;
    return *added = file;
}

/** The file of the archive that an open one is: one that is known, or a new one. NULL: `*why` says why it is none, or
 * is NULL when there is no memory. */
static struct rm_stored_file *archive_adopt(struct rm_archive *archive, int descriptor, char const *path,
                                            char const **why) {
    struct rm_stored_file found;
    *why = rm_stored_file_begin(&found, descriptor, path);
    if (*why == NULL && archive->has_uuid &&
        memcmp(found.info.header.archive_uuid, archive->uuid, sizeof archive->uuid) != 0)
        *why = "it is of another archive";
    if (*why != NULL)
        return NULL;
    memcpy(archive->uuid, found.info.header.archive_uuid, sizeof archive->uuid);
    archive->has_uuid = true;
    struct rm_stored_file *const known = archive_file_of_number(archive, &found.info.header);
    if (known == NULL)
        return archive_add_file(archive, &found);
    if (known->seen)
        return known;
    if (rm_stored_file_is(known, descriptor)) {
        memcpy(known->info.path, found.info.path, sizeof known->info.path);
        return known;
    }
    rm_stored_file_free(known);
    *known = found;
    return known;
}

static enum rm_code archive_take_file(struct rm_archive *archive, char const *path, struct rm_error *error) {
    if (strlen(path) >= RM_ARCHIVE_PATH_BYTES)
        return archive_add_foreign(archive, path, "its path is too long", error);
    int const descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT)
        return RM_OK; // it was there a moment ago
    if (descriptor < 0)
        return archive_add_foreign(archive, path, strerror(errno), error);
    char const *why = NULL;
    struct rm_stored_file *file = archive_file_of_path(archive, path);
    if (file == NULL || !rm_stored_file_is(file, descriptor))
        file = archive_adopt(archive, descriptor, path, &why);
    enum rm_code code = RM_OK;
    if (why != NULL && *why == '\0')
        code = RM_OK;
    else if (why != NULL)
        code = archive_add_foreign(archive, path, why, error);
    else if (file == NULL)
        code = rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the list of its files", archive->path);
    else if (!file->seen)
        code = rm_stored_file_look(file, descriptor, error);
    if (file != NULL)
        file->seen = true;
    close(descriptor);
    return code;
}

static enum rm_code archive_take_entry(struct rm_archive *archive, FTSENT const *entry, struct rm_error *error) {
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
        return entry->fts_errno == ENOENT
                   ? RM_OK
                   : archive_add_foreign(archive, entry->fts_path, strerror(entry->fts_errno), error);
    if (entry->fts_info != FTS_F || entry_is_beside(entry))
        return RM_OK;
    if (entry->fts_level > 0 && !name_ends(entry->fts_name, ".rmlog"))
        return archive_add_foreign(archive, entry->fts_path, "its name does not end in .rmlog", error);
    return archive_take_file(archive, entry->fts_path, error);
}

static int entry_compare(FTSENT const **one, FTSENT const **other) {
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

static int stored_file_compare(void const *one, void const *other) {
    struct rm_log_header const *const a = &(*(struct rm_stored_file *const *)one)->info.header;
    struct rm_log_header const *const b = &(*(struct rm_stored_file *const *)other)->info.header;
    int const by_log = strcmp(a->log, b->log);
    return by_log != 0 ? by_log : (a->number > b->number) - (a->number < b->number);
}

/** Forgets the files that the look did not find. */
static void archive_drop_unseen(struct rm_archive *archive) {
    struct rm_stored_file **const files = archive->files.items;
    size_t kept = 0;
    for (size_t i = 0; i < archive->files.count; ++i) {
        if (files[i]->seen) {
            files[kept++] = files[i];
            continue;
        }
        rm_stored_file_free(files[i]);
        free(files[i]);
    }
    archive->files.count = kept;
}

enum rm_code rm_archive_find_files(struct rm_archive *archive, struct rm_error *error) {
    char *paths[] = {archive->path, NULL};
    FTS *const tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, entry_compare);
    if (tree == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be looked through: %m", archive->path);
    if (archive->open_file != UINT32_MAX)
        close(archive->descriptor);
    archive->open_file = UINT32_MAX;
    archive->foreigns.count = 0;
    for (size_t i = 0; i < archive->files.count; ++i)
        rm_archive_stored_file(archive, i)->seen = false;
    enum rm_code code = RM_OK;
    for (FTSENT *entry; code == RM_OK && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_level >= DEEPEST && entry->fts_info == FTS_D)
            fts_set(tree, entry, FTS_SKIP);
        code = archive_take_entry(archive, entry, error);
    }
    fts_close(tree);
    if (code != RM_OK)
        return code;
    archive_drop_unseen(archive);
    if (archive->files.count > 1)
        qsort(archive->files.items, archive->files.count, sizeof(struct rm_stored_file *), stored_file_compare);
    return RM_OK;
}
