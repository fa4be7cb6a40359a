// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "mask.h"

/** Digits that the server's file gives the numbers of so many instruments: at least two. */
static int count_digits(uint32_t count) { return snprintf(NULL, 0, "%02u", count); }

bool fa_file_instrument(struct fa_file_ids const *ids, uint32_t number, char name[RM_NAME_BYTES]) {
    int const bytes = ids->count == 0 ? snprintf(name, RM_NAME_BYTES, "%s", ids->instrument)
                                      : snprintf(name, RM_NAME_BYTES, "%s%0*u", ids->instrument,
                                                 count_digits(ids->count), number + 1);
    return bytes < RM_NAME_BYTES;
}

struct fa_file_ids const *fa_file_find(struct fa_file const *file, uint32_t id, uint32_t *number) {
    for (uint32_t i = 0; i < file->ids_count; ++i) {
        struct fa_file_ids const *const ids = &file->ids[i];
        *number = id - ids->id;
        if (id >= ids->id && *number < (ids->count == 0 ? 1 : ids->count))
            return ids;
    }
    return NULL;
}

/** What a client would take for the end of a name. */
static void check_plain(char const *path, char const *key, char const *text, struct rm_errors *errors) {
    for (char const *at = text; at != NULL && *at != '\0'; ++at)
        if (*at <= ' ' || *at > '~') {
            rm_configuration_refuse(errors, path, key, "found \"%s\", expected printable ASCII without spaces", text);
            return;
        }
}

static void check_ids(char const *path, struct fa_file const *file, uint32_t index, struct fa_mask *taken,
                      struct rm_errors *errors) {
    struct fa_file_ids const *ids = &file->ids[index];
    uint32_t const count = ids->count == 0 ? 1 : ids->count;
    char key[48];
    snprintf(key, sizeof key, "ids[%u].description", index);
    check_plain(path, key, ids->description, errors);
    snprintf(key, sizeof key, "ids[%u].instrument", index);
    check_plain(path, key, ids->instrument, errors);
    snprintf(key, sizeof key, "ids[%u].id", index);
    if (ids->id + count > file->id_count) {
        rm_configuration_refuse(errors, path, key, "ends at id %u, expected less than id_count, which is %u",
                                ids->id + count - 1, file->id_count);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (fa_mask_has(taken, ids->id + i)) {
            rm_configuration_refuse(errors, path, key, "id %u is that of an entry before, too", ids->id + i);
            return;
        }
        fa_mask_add(taken, ids->id + i);
    }
}

static enum rm_code file_check(char const *path, void *values, struct rm_errors *errors) {
    struct fa_file const *file = values;
    struct fa_mask taken = {{0}};
    struct in_addr address;
    uint32_t const before = errors->count;
    if (file->address != NULL && inet_pton(AF_INET, file->address, &address) != 1)
        rm_configuration_refuse(errors, path, "address", "found \"%s\", expected an IPv4 address such as 0.0.0.0",
                                file->address);
    check_plain(path, "name", file->name, errors);
    if (file->id_count > FA_IDS_MAX || (file->id_count & (file->id_count - 1)) != 0) {
        rm_configuration_refuse(errors, path, "id_count", "found %u, expected a power of two from 32 to %d",
                                file->id_count, FA_IDS_MAX);
        return RM_E_CONFIG;
    }
    for (uint32_t i = 0; i < file->ids_count; ++i)
        check_ids(path, file, i, &taken, errors);
    return errors->count == before ? RM_OK : RM_E_CONFIG;
}

enum rm_code fa_file_load(char const *path, struct fa_file *file, struct rm_errors *errors) {
    return rm_configuration_load(path, fa_file_keys, file, file_check, errors);
}

void fa_file_free(struct fa_file *file) { rm_configuration_free(fa_file_keys, file); }
