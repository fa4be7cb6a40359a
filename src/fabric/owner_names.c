// SPDX-License-Identifier: Apache-2.0
#include "fabric/owner_names.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/owner_folder.h"

enum { NAMES_MAX = 4096 /**< of a directory in which other users make as many files as they like */ };

/** Takes the name without `suffix`, where it has it and is a good one then. */
static bool take_owner_name(char name[RM_OWNER_BYTES], char const *file, char const *suffix) {
    size_t const length = strlen(file), end = strlen(suffix);
    if (length <= end || length - end >= RM_OWNER_BYTES || strcmp(file + length - end, suffix) != 0)
        return false;
    snprintf(name, RM_OWNER_BYTES, "%.*s", (int)(length - end), file);
    return rm_owner_name_good(name);
}

static bool is_folder(char const *directory, struct dirent const *entry) {
    uid_t uid;
    return (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) && rm_owner_folder(directory, entry->d_name, &uid);
}

static int by_name(void const *left, void const *right) { return strcmp(left, right); }

/** Sorts, and drops what is there twice. */
static void fix_names(struct rm_owner_names *names) {
    if (names->count == 0)
        return;
    qsort(names->name, names->count, RM_OWNER_BYTES, by_name);
    size_t kept = 1;
    for (size_t i = 1; i < names->count; ++i)
        if (strcmp(names->name[i], names->name[kept - 1]) != 0)
            memmove(names->name[kept++], names->name[i], RM_OWNER_BYTES);
    names->count = kept;
}

static void add_owner_name(struct rm_owner_names *names, size_t *room, char const name[RM_OWNER_BYTES]) {
    if (names->count == *room) {
        size_t const more = *room ? 2 * *room : 32;
        void *grown = realloc(names->name, more * RM_OWNER_BYTES);
        if (grown == NULL)
            return;
        names->name = grown;
        *room = more;
    }
    memcpy(names->name[names->count++], name, RM_OWNER_BYTES);
}

static void list_owner_names(struct rm_owner_names *names, char const *directory, bool folders) {
    *names = (struct rm_owner_names){0};
    size_t room = 0;
    DIR *listing = opendir(directory);
    if (listing == NULL)
        return;
    for (struct dirent *entry; names->count < NAMES_MAX && (entry = readdir(listing)) != NULL;) {
        char name[RM_OWNER_BYTES] = "";
        if (take_owner_name(name, entry->d_name, ".segment") ||
            (!folders && take_owner_name(name, entry->d_name, ".lock")) ||
            (folders && take_owner_name(name, entry->d_name, "") && is_folder(directory, entry)))
            add_owner_name(names, &room, name);
    }
    closedir(listing);
    fix_names(names);
}

void rm_owner_names_list(struct rm_owner_names *names, char const *workspace_path) {
    list_owner_names(names, workspace_path, true);
}

void rm_owner_names_list_in(struct rm_owner_names *names, char const *directory) {
    list_owner_names(names, directory, false);
}

void rm_owner_names_free(struct rm_owner_names *names) {
    free(names->name);
    *names = (struct rm_owner_names){0};
}
