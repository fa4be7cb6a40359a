// SPDX-License-Identifier: Apache-2.0
/** A YAML file as libyaml's tree of nodes, each of which knows its line and column. */
#ifndef RM_BASE_YAML_DOCUMENT_H
#define RM_BASE_YAML_DOCUMENT_H

#include <stdarg.h>

#include <yaml.h>

#include <ringmaster/errors.h>

enum {
    /** Larger files are refused: no configuration has a megabyte. */
    RM_YAML_FILE_BYTES_MAX = 1 << 20,
    /** Bytes of a key such as "ports[1].socket", with the terminating zero. */
    RM_YAML_KEY_BYTES = 128,
};

struct rm_yaml_document {
    /** Path, owned by the caller. */
    char const *path;
    /** The whole file. */
    char *text;

    size_t text_bytes;
    yaml_document_t tree;
    /** Root node, in `tree`. */
    yaml_node_t *root;
};

/** Reads and parses `path`, which must stay valid. A file that is no YAML, is empty or holds a second document gives
 * RM_E_CONFIG with its place. Only after RM_OK there is something to close. */
enum rm_code rm_yaml_document_open(char const *path, struct rm_yaml_document *document, struct rm_error *error);

/** The same of a text that is in no file; errors call it `name`. Both must stay valid. */
enum rm_code rm_yaml_document_parse(char const *name, char const *text, struct rm_yaml_document *document,
                                    struct rm_error *error);
void rm_yaml_document_close(struct rm_yaml_document *document);

/** The value of `key` ("ports[1].socket", "" for the root), or the nearest parent of it that exists. */
yaml_node_t const *rm_yaml_document_find(struct rm_yaml_document const *document, char const *key);

/** The value of the key of this name (`bytes` long) in a mapping; NULL when it has none, or is no mapping. */
yaml_node_t const *rm_yaml_document_member(struct rm_yaml_document const *document, yaml_node_t const *mapping,
                                           char const *name, size_t bytes);

/** A word of a file that stands for another: "{server}" for "a". */
struct rm_yaml_word {
    char const *word, *text;
};

/** Replaces words wherever they stand, in values and in the document's text; places stay those of the file. Also what
 * `rm_yaml_take` then loads. RM_E_NO_SPACE: the document is as it was, or in part so, and is still to be closed. */
enum rm_code rm_yaml_document_replace(struct rm_yaml_document *document, struct rm_yaml_word const *words, size_t count,
                                      struct rm_error *error);

/** A copy of the text, to be freed; NULL: there is no memory. */
char *rm_yaml_document_copy(struct rm_yaml_document const *document);

/** The node with this number; NULL when there is none. */
yaml_node_t const *rm_yaml_document_node(struct rm_yaml_document const *document, int node);

/** Writes "FILE:LINE:COLUMN: key: text" ("key: " only if key is not empty), control characters in text as '?'; returns
 * RM_E_CONFIG. */
enum rm_code rm_yaml_fail_at(struct rm_error *error, char const *path, yaml_mark_t mark, char const *key,
                             char const *format, ...) __attribute__((format(printf, 5, 6)));
enum rm_code rm_yaml_vfail_at(struct rm_error *error, char const *path, yaml_mark_t mark, char const *key,
                              char const *format, va_list arguments) __attribute__((format(printf, 5, 0)));

/** What a node is, for people: `"text"` cut where it is long, "nothing", "a list", "a mapping". */
char const *rm_yaml_quote(yaml_node_t const *node, char quoted[RM_QUOTED_BYTES]);

#endif
