// SPDX-License-Identifier: Apache-2.0
/** The lines of a configuration: differences.h. */
#include "standby/link/differences.h"

#include <limits.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/yaml_document.h"

enum {
    KEY_BYTES = 256,
    /** Files in files: a configuration names an application's, and that one its tables. */
    FILES_DEEP = 2,
    NODES_DEEP = 32,
};

/** What is walked through. */
struct lines_walk {
    FILE *out;
    /** Folder of the file, with its slash. */
    char folder[PATH_MAX];
    struct rm_yaml_document document;
    int files_deep;
};

/** The key of this server, and the file that only it writes: what is in them is not compared. */
static bool lines_key_is_private(char const *key) {
    return strcmp(key, "standby.key") == 0 || strcmp(key, "setpoints.terms") == 0;
}

static enum rm_code lines_file(FILE *out, char const *path, char const *before, int files_deep, struct rm_error *error);

/** The sum of a file's content; false where it cannot be read. */
static bool content_sum(char const *path, uint64_t *sum) {
    FILE *const file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES);
    uint8_t part[4096], hash[crypto_generichash_BYTES];
    size_t count;
    while ((count = fread(part, 1, sizeof part, file)) > 0)
        crypto_generichash_update(&state, part, count);
    bool const good = ferror(file) == 0;
    fclose(file);
    crypto_generichash_final(&state, hash, sizeof hash);
    memcpy(sum, hash, sizeof *sum);
    return good;
}

/** A file that the value names is compared, too: value by value where it is YAML, else by its content. */
static enum rm_code lines_named_file(struct lines_walk *walk, char const *key, char const *value,
                                     struct rm_error *error) {
    char path[PATH_MAX];
    struct stat status;
    int const length = snprintf(path, sizeof path, "%s%s", value[0] == '/' ? "" : walk->folder, value);
    if (length >= (int)sizeof path || value[0] == '\0' || lines_key_is_private(key) || stat(path, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return RM_OK;
    char const *const ending = strrchr(value, '.');
    if (walk->files_deep < FILES_DEEP && ending != NULL && strcmp(ending, ".yaml") == 0)
        return lines_file(walk->out, path, key, walk->files_deep + 1, error);
    uint64_t sum;
    if (!content_sum(path, &sum))
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be read, and %s names it: the two servers compare its content",
                       path, key);
    fprintf(walk->out, "%s (content): %016llx\n", key, (unsigned long long)sum);
    return RM_OK;
}

static enum rm_code lines_node(struct lines_walk *walk, int number, char const *key, char const *before, int deep,
                               struct rm_error *error);

static enum rm_code lines_mapping(struct lines_walk *walk, yaml_node_t const *node, char const *key, char const *before,
                                  int deep, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (yaml_node_pair_t const *pair = node->data.mapping.pairs.start;
         code == RM_OK && pair < node->data.mapping.pairs.top; ++pair) {
        yaml_node_t const *const name = rm_yaml_document_node(&walk->document, pair->key);
        char member[KEY_BYTES];
        bool const named = name != NULL && name->type == YAML_SCALAR_NODE;
        snprintf(member, sizeof member, "%s%s%s", key, key[0] == '\0' ? "" : ".",
                 named ? (char const *)name->data.scalar.value : "?");
        code = lines_node(walk, pair->value, member, before, deep, error);
    }
    return code;
}

static enum rm_code lines_node(struct lines_walk *walk, int number, char const *key, char const *before, int deep,
                               struct rm_error *error) {
    yaml_node_t const *const node = rm_yaml_document_node(&walk->document, number);
    if (node == NULL || deep > NODES_DEEP)
        return RM_OK;
    enum rm_code code = RM_OK;
    if (node->type == YAML_MAPPING_NODE)
        return lines_mapping(walk, node, key, before, deep + 1, error);
    if (node->type == YAML_SEQUENCE_NODE) {
        int index = 0;
        for (yaml_node_item_t const *item = node->data.sequence.items.start;
             code == RM_OK && item < node->data.sequence.items.top; ++item) {
            char member[KEY_BYTES + 16];
            snprintf(member, sizeof member, "%s[%d]", key, index++);
            code = lines_node(walk, *item, member, before, deep + 1, error);
        }
        return code;
    }
    char whole[2 * KEY_BYTES];
    char const *const value = (char const *)node->data.scalar.value;
    snprintf(whole, sizeof whole, "%s%s%s", before, before[0] == '\0' ? "" : " → ", key);
    fprintf(walk->out, "%s: %s\n", whole, value);
    return lines_named_file(walk, whole, value, error);
}

static enum rm_code lines_file(FILE *out, char const *path, char const *before, int files_deep,
                               struct rm_error *error) {
    struct lines_walk walk = {.out = out, .files_deep = files_deep};
    snprintf(walk.folder, sizeof walk.folder, "%s", path);
    char *const slash = strrchr(walk.folder, '/');
    walk.folder[slash == NULL ? 0 : slash + 1 - walk.folder] = '\0';
    enum rm_code code = rm_yaml_document_open(path, &walk.document, error);
    if (code != RM_OK)
        return code;
    code = lines_node(&walk, 1, "", before, 0, error); // libyaml counts nodes from 1, the root
    rm_yaml_document_close(&walk.document);
    return code;
}

enum rm_code rm_peer_lines_make(char const *path, char **lines, struct rm_error *error) {
    size_t bytes;
    *lines = NULL;
    FILE *const out = open_memstream(lines, &bytes);
    if (out == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the lines of %s", path);
    enum rm_code const code = lines_file(out, path, "", 0, error);
    fclose(out);
    return code;
}

void rm_peer_lines_digest(char const *lines, uint8_t digest[RM_PEER_DIGEST_BYTES]) {
    crypto_generichash(digest, RM_PEER_DIGEST_BYTES, (uint8_t const *)lines, strlen(lines), NULL, 0);
}
