// SPDX-License-Identifier: Apache-2.0
/** `mkdir -p`. */
#ifndef RM_FABRIC_DIRECTORIES_H
#define RM_FABRIC_DIRECTORIES_H

#include <ringmaster/error.h>

/** Makes a directory and those above it where they are missing, mode 0755. */
enum rm_code rm_directories_make(char const *path, struct rm_error *error);

#endif
