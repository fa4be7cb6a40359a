// SPDX-License-Identifier: Apache-2.0
/** The steps from the overlay as written to virtual cameras; each checks what the schema cannot. */
#ifndef RM_CAMERAS_CAMERAS_RESOLVE_H
#define RM_CAMERAS_CAMERAS_RESOLVE_H

#include "cameras_config.h"
#include "cameras_file.h"

struct rm_cameras_resolve {
    /** Where errors are: the overlay, or without one the machine's file. */
    char const *path;
    struct rm_virtual_file const *file;
    struct rm_cameras_config *config;
    struct rm_errors *errors;
};

/** Every number of the overlay is in the range that its key has. */
enum rm_code rm_cameras_check_ranges(struct rm_cameras_resolve const *resolve);

/** Camera `index` of the machine from `entry` of the overlay; `place` is where that stands: "cameras[1]". */
enum rm_code rm_cameras_resolve_camera(struct rm_cameras_resolve const *resolve, uint32_t index,
                                       struct rm_virtual_file_camera const *entry, char const *place);

/** The ends of ports that cameras use. */
enum rm_code rm_cameras_resolve_ports(struct rm_cameras_resolve const *resolve);

/** Adds an error at `place.key` of the overlay. Returns RM_E_CONFIG. */
enum rm_code rm_cameras_fail(struct rm_cameras_resolve const *resolve, char const *place, char const *key,
                             char const *format, ...) __attribute__((format(printf, 4, 5)));

#endif
