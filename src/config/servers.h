// SPDX-License-Identifier: Apache-2.0
/** Which server a file is loaded for. A file with `standby` is of two; FILE@NAME says which.
 *
 *     struct rm_config_named named;
 *     rm_config_read_named("pair.yaml@b", &named);           // "pair.yaml", "b"
 *     …open named.file as a document…
 *     code = rm_config_choose_server(&document, &named, &own, errors);
 *     …code is RM_OK: own is 1, and `ring-{server}` of the document reads `ring-b`
 */
#ifndef RM_CONFIG_SERVERS_H
#define RM_CONFIG_SERVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"
#include "base/yaml_document.h"
#include "config/config.h"

/** FILE or FILE@NAME, in its parts. */
struct rm_config_named {
    char file[RM_CONFIG_PATH_BYTES];
    /** "": none is named. */
    char server[RM_CONFIG_NAME_BYTES];
};

/** Takes a path apart. What stands behind the last @ is a server where it could be the name of one, as the end of
 * "rings@site.yaml" could not. False: the path is too long. */
bool rm_config_read_named(char const *path, struct rm_config_named *named);

/** Names the two servers of a file that has some: false where it has none, or they cannot be read. */
bool rm_config_server_names(struct rm_yaml_document const *document,
                            char name[RM_CONFIG_SERVERS][RM_CONFIG_NAME_BYTES]);

/** Finds the server that is named, and puts its name and number into the document's texts. A file of one server stays
 * as it is. RM_E_CONFIG: a server is named that is not there, or none of two; or both would have the same workspace. */
enum rm_code rm_config_choose_server(struct rm_yaml_document *document, struct rm_config_named const *named,
                                     uint32_t *own, struct rm_errors *errors);

/** Puts a server's name and number into the texts of a document, which may be another than that of its file. */
enum rm_code rm_config_put_server(struct rm_yaml_document *document, char const *name, uint32_t own,
                                  struct rm_errors *errors);

#endif
