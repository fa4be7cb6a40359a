// SPDX-License-Identifier: Apache-2.0
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/format/block.h"
#include "base/fail.h"

enum { NEW_FOLDER = 0750, NEW_FILE = 0640, UUID_TEXT = 36 };

static void folder_uuid_text(uint8_t const uuid[16], char text[UUID_TEXT + 1]) {
    for (unsigned i = 0, at = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        at += (unsigned)snprintf(text + at, 3, "%02x", uuid[i]);
    }
}

static bool folder_uuid_parse(char const *text, uint8_t uuid[16]) {
    for (unsigned i = 0; i < 16; ++i) {
        unsigned value;
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += *text == '-';
        if (sscanf(text, "%2x", &value) != 1)
            return false;
        uuid[i] = (uint8_t)value;
        text += 2;
    }
    return true;
}

static enum rm_code folder_identity_make(struct rm_archive_folder *folder, char const *path, struct rm_error *error) {
    char text[UUID_TEXT + 1];
    if (getrandom(folder->uuid, sizeof folder->uuid, 0) != sizeof folder->uuid)
        return rm_fail(error, RM_E_SYSTEM, "no random numbers: %s", strerror(errno));
    folder->uuid[6] = (uint8_t)((folder->uuid[6] & 0x0F) | 0x40); /* RFC 9562, version 4 */
    folder->uuid[8] = (uint8_t)((folder->uuid[8] & 0x3F) | 0x80);
    folder_uuid_text(folder->uuid, text);
    int const file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_FILE);
    bool const good = file >= 0 && dprintf(file, "RMARCHIVE %u %s\n", RM_ARCHIVE_VERSION, text) > 0 && fsync(file) == 0;
    int const why = errno;
    if (file >= 0)
        close(file);
    return good ? RM_OK : rm_fail(error, RM_E_SYSTEM, "%s: cannot be written: %s", path, strerror(why));
}

/** Reads the file `archive`. RM_E_ABSENT where there is none, without a text. */
static enum rm_code folder_identity_read(struct rm_archive_folder *folder, char const *path, struct rm_error *error) {
    char text[80];
    unsigned version = 0;
    char uuid[UUID_TEXT + 1];
    FILE *file = fopen(path, "re");
    if (file == NULL && (errno == ENOENT || errno == ENOTDIR))
        return RM_E_ABSENT;
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    bool const read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    if (!read || sscanf(text, "RMARCHIVE %u %36s", &version, uuid) != 2 || !folder_uuid_parse(uuid, folder->uuid))
        return rm_fail(error, RM_E_CONFIG, "%s: is no identity of an archive, expected \"RMARCHIVE 2 UUID\"", path);
    if (!rm_archive_reads(version))
        return rm_fail(error, RM_E_VERSION, "%s: is of version %u, expected %u: record into another folder", path,
                       version, RM_ARCHIVE_VERSION);
    return RM_OK;
}

/** Reads the file `archive`, or makes it. */
static enum rm_code folder_identity(struct rm_archive_folder *folder, struct rm_error *error) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/archive", folder->path);
    enum rm_code const code = folder_identity_read(folder, path, error);
    return code == RM_E_ABSENT ? folder_identity_make(folder, path, error) : code;
}

/** Takes the lock, and writes into its file who holds it. */
static enum rm_code folder_lock(struct rm_archive_folder *folder, struct rm_error *error) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[PATH_MAX + 16], holder[32] = "?";
    snprintf(path, sizeof path, "%s/recorder.lock", folder->path);
    folder->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, NEW_FILE);
    if (folder->lock < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    if (fcntl(folder->lock, F_OFD_SETLK, &lock) != 0) {
        ssize_t const length = pread(folder->lock, holder, sizeof holder - 1, 0);
        holder[length > 0 ? length : 0] = '\0';
        holder[strcspn(holder, "\n")] = '\0';
        rm_archive_folder_close(folder);
        return rm_fail(error, RM_E_BUSY,
                       "%s: process %s records there; end it, or name another `directory` in this recorder's file",
                       folder->path, holder);
    }
    if (ftruncate(folder->lock, 0) != 0 || dprintf(folder->lock, "%ld\n", (long)getpid()) < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    return RM_OK;
}

/** Makes a folder, and those above it. */
static int folder_make(char const *path) {
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; *at != '\0'; ++at)
        if (*at == '/') {
            *at = '\0';
            if (mkdir(part, NEW_FOLDER) != 0 && errno != EEXIST)
                return -errno;
            *at = '/';
        }
    return mkdir(part, NEW_FOLDER) == 0 || errno == EEXIST ? 0 : -errno;
}

static enum rm_code folder_name(struct rm_archive_folder *folder, char const *path, struct rm_error *error) {
    *folder = (struct rm_archive_folder){.lock = -1};
    if (strlen(path) > PATH_MAX - 2 * (size_t)RM_LOG_NAME_BYTES - 32)
        return rm_fail(error, RM_E_CONFIG, "directory: \"%.40s…\" is too long", path);
    snprintf(folder->path, sizeof folder->path, "%s", path);
    return RM_OK;
}

enum rm_code rm_archive_folder_check(char const *path, struct rm_error *error) {
    struct rm_archive_folder folder;
    struct stat status;
    char part[PATH_MAX + 16];
    if (folder_name(&folder, path, error) != RM_OK)
        return RM_E_CONFIG;
    snprintf(part, sizeof part, "%s/archive", path);
    enum rm_code const code = folder_identity_read(&folder, part, error);
    if (code != RM_E_ABSENT)
        return code;
    /* The nearest folder that is there, of those above it. */
    snprintf(part, sizeof part, "%s", path);
    while (stat(part, &status) != 0 && errno == ENOENT) {
        char *slash = strrchr(part, '/');
        if (slash == NULL || slash == part) {
            snprintf(part, sizeof part, "%s", slash == NULL ? "." : "/");
            break;
        }
        *slash = '\0';
    }
    if (stat(part, &status) != 0)
        return rm_fail(error, RM_E_SYSTEM, "directory: %s: cannot be made: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode) || access(part, W_OK | X_OK) != 0)
        return rm_fail(error, RM_E_SYSTEM, "directory: %s: cannot be made: %s: %s", path, part,
                       strerror(S_ISDIR(status.st_mode) ? errno : ENOTDIR));
    return RM_OK;
}

enum rm_code rm_archive_folder_open(struct rm_archive_folder *folder, char const *path, struct rm_error *error) {
    if (folder_name(folder, path, error) != RM_OK)
        return RM_E_CONFIG;
    int const made = folder_make(path);
    if (made < 0)
        return rm_fail(error, RM_E_SYSTEM, "directory: %s: cannot be made: %s", path, strerror(-made));
    enum rm_code code = folder_lock(folder, error);
    if (code == RM_OK)
        code = folder_identity(folder, error);
    if (code != RM_OK)
        rm_archive_folder_close(folder);
    return code;
}

void rm_archive_folder_close(struct rm_archive_folder *folder) {
    if (folder->lock >= 0)
        close(folder->lock);
    folder->lock = -1;
}
