// SPDX-License-Identifier: Apache-2.0
#include "recorded_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

enum { BUFFER_BYTES = 1 << 16 };

enum rm_code rm_recorded_file_make(char const *folder, char const *name, struct rm_stream const *stream, FILE **file,
                                   struct rm_error *error) {
    char path[PATH_MAX], plain[RM_NAME_BYTES];
    union {
        struct rm_recorded_head head;
        char bytes[RM_RECORDED_HEAD_BYTES];
    } first = {.bytes = {0}};
    first.head = (struct rm_recorded_head){
        .magic = RM_RECORDED_MAGIC, .version = RM_RECORDED_VERSION, .abi_version = RM_ABI_VERSION, .stream = *stream};
    snprintf(first.head.name, sizeof first.head.name, "%s", name);
    snprintf(plain, sizeof plain, "%s", name);
    for (char *slash = strchr(plain, '/'); slash != NULL; slash = strchr(slash, '/'))
        *slash = '.';
    snprintf(path, sizeof path, "%s/%s" RM_RECORDED_SUFFIX, folder, plain);
    *file = fopen(path, "wb");
    if (*file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    setvbuf(*file, NULL, _IOFBF, BUFFER_BYTES);
    fwrite(&first, sizeof first, 1, *file); // what fails is found at the end
    return RM_OK;
}

static bool is_recorded_file(char const *name) {
    size_t const length = strlen(name), suffix = sizeof RM_RECORDED_SUFFIX - 1;
    return length > suffix && strcmp(name + length - suffix, RM_RECORDED_SUFFIX) == 0;
}

enum rm_code rm_recorded_folder_clear(char const *folder, struct rm_error *error) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", folder, strerror(errno));
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", folder, strerror(errno));
    for (struct dirent const *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        if (is_recorded_file(entry->d_name))
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    return RM_OK;
}
