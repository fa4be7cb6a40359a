// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/format/mapped.h"
#include "archive/format/scan.h"
#include "base/fail.h"
#include "folder.h"
#include "log_file.h"
#include "seal.h"

enum { NEW_FOLDER = 0750, FILE_NAME_BYTES = 16 + 6 };

bool rm_kept_files_add(struct rm_kept_files *files, struct rm_kept_file const *file) {
    if (files->count == files->capacity) {
        uint32_t const capacity = files->capacity > 0 ? 2 * files->capacity : 64;
        struct rm_kept_file *grown = realloc(files->file, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        files->file = grown;
        files->capacity = capacity;
    }
    files->file[files->count++] = *file;
    files->bytes += file->bytes;
    return true;
}

void rm_kept_files_drop(struct rm_kept_files *files) {
    files->bytes -= files->file[0].bytes;
    memmove(files->file, files->file + 1, --files->count * sizeof *files->file);
}

void rm_kept_files_free(struct rm_kept_files *files) {
    free(files->file);
    *files = (struct rm_kept_files){0};
}

void rm_log_forget_live(char const *path) {
    char live[PATH_MAX + sizeof RM_LOG_LIVE_SUFFIX];
    snprintf(live, sizeof live, "%s" RM_LOG_LIVE_SUFFIX, path);
    unlink(live);
}

/** What is looked for, and where. */
struct log_folder {
    char const *path;
    struct rm_disk *disk;
    struct rm_kept_files *files;
    struct rm_log_found *found;
    void (*say)(char const *text);
};

static void log_folder_say(struct log_folder const *self, char const *text) {
    if (self->say != NULL)
        self->say(text);
}

/** The number of a file by its name; 0: it is none of ours. */
static uint64_t log_folder_number(char const *name) {
    uint64_t number = 0;
    int length = 0;
    bool const fits = strlen(name) == FILE_NAME_BYTES && sscanf(name, "%16" SCNu64 ".rmlog%n", &number, &length) == 1;
    return fits && length == FILE_NAME_BYTES ? number : 0;
}

static void log_folder_keep(struct rm_sealed const *sealed, struct rm_kept_file *kept) {
    kept->bytes = sealed->bytes;
    kept->first_turn = sealed->first_turn;
    kept->first_tai_ns = sealed->first_tai_ns;
    kept->newest_tai_ns = sealed->newest_tai_ns;
}

/** Of a sealed file what its index says; true where there is one. */
static bool log_folder_sealed(char const *path, struct rm_kept_file *kept) {
    struct rm_mapped_file file;
    struct rm_scan scan;
    if (rm_mapped_file_open(path, &file, NULL) != RM_OK)
        return false;
    uint32_t count = 0;
    bool const good = rm_scan_begin(&scan, file.data, file.bytes, path, NULL) == RM_OK;
    struct rm_block_place const *place = good ? rm_scan_index(&scan, &count) : NULL;
    struct rm_sealed sealed = {.bytes = file.bytes, .first_turn = RM_TURN_NONE};
    for (uint32_t i = 0; place != NULL && i < count; ++i)
        rm_seal_take(&place[i].block, &sealed);
    log_folder_keep(&sealed, kept);
    rm_mapped_file_close(&file);
    return place != NULL;
}

/** Whether the power went before the file's header was there: then nothing of it ever counted as durable. */
static bool log_folder_is_unborn(char const *path) {
    struct rm_mapped_file file;
    static uint8_t const ZEROS[RM_LOG_HEADER_BYTES];
    if (rm_mapped_file_open(path, &file, NULL) != RM_OK)
        return false;
    bool const unborn = file.bytes == 0 || (file.bytes >= sizeof ZEROS && memcmp(file.data, ZEROS, sizeof ZEROS) == 0);
    rm_mapped_file_close(&file);
    return unborn;
}

/** Takes one file of ours; a file that cannot be read stays where it is, and its number is not used again. */
static enum rm_code log_folder_take(struct log_folder *self, uint64_t number, struct rm_error *error) {
    char path[PATH_MAX];
    struct rm_kept_file kept = {.number = number};
    struct rm_sealed sealed;
    struct rm_error why;
    rm_log_file_path(path, self->path, number);
    if (number >= self->found->next_number)
        self->found->next_number = number + 1;
    if (log_folder_is_unborn(path)) {
        self->disk->ops->remove(self->disk->state, path);
        return RM_OK;
    }
    if (!log_folder_sealed(path, &kept)) {
        enum rm_code const code = rm_seal_found(self->disk, path, &sealed, &why);
        if (code != RM_OK) {
            log_folder_say(self, why.text);
            return RM_OK;
        }
        ++self->found->reopened;
        self->found->damaged_bytes += sealed.damaged_bytes;
        log_folder_keep(&sealed, &kept);
    }
    return rm_kept_files_add(self->files, &kept) ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "%s: no memory", self->path);
}

/** Whether it is the name of a file with more behind it. */
static bool log_folder_is_with(char const *name, char const *suffix) {
    return strlen(name) > FILE_NAME_BYTES && strcmp(name + FILE_NAME_BYTES, suffix) == 0;
}

static enum rm_code log_folder_entry(struct log_folder *self, char const *name, struct rm_error *error) {
    uint64_t const number = log_folder_number(name);
    char text[RM_ERROR_TEXT_BYTES];
    if (number > 0)
        return log_folder_take(self, number, error);
    if (log_folder_is_with(name, RM_LOG_NEW_SUFFIX)) {
        char path[PATH_MAX + 32];
        snprintf(path, sizeof path, "%s/%s", self->path, name);
        self->disk->ops->remove(self->disk->state, path);
        return RM_OK;
    }
    if (log_folder_is_with(name, RM_LOG_LIVE_SUFFIX))
        return RM_OK;
    snprintf(text, sizeof text, "%.300s/%.100s: is no file of this log; it is left as it is", self->path, name);
    log_folder_say(self, text);
    return RM_OK;
}

static int log_folder_wanted(struct dirent const *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

enum rm_code rm_log_folder_open(struct rm_archive_folder const *folder, struct rm_disk *disk, char const *log,
                                struct rm_kept_files *files, struct rm_log_found *found, void (*say)(char const *text),
                                struct rm_error *error) {
    char path[PATH_MAX];
    struct dirent **entry = NULL;
    struct log_folder self = {.path = path, .disk = disk, .files = files, .found = found, .say = say};
    *found = (struct rm_log_found){.next_number = 1};
    snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - RM_LOG_NAME_BYTES - 2, folder->path, log);
    if (mkdir(path, NEW_FOLDER) != 0 && errno != EEXIST)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be made: %s", path, strerror(errno));
    int const count = scandir(path, &entry, log_folder_wanted, alphasort);
    if (count < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    enum rm_code code = RM_OK;
    for (int i = 0; i < count; ++i) {
        if (code == RM_OK)
            code = log_folder_entry(&self, entry[i]->d_name, error);
        free(entry[i]);
    }
    free(entry);
    return code;
}
