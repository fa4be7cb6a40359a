// SPDX-License-Identifier: Apache-2.0
/** A folder of recorded streams (recorded_file.h), as a replay reads it (host/host_recorded.h). */
#ifndef RM_SIMULATION_RECORDED_FOLDER_H
#define RM_SIMULATION_RECORDED_FOLDER_H

#include "host/host_recorded.h"

struct rm_recorded_folder;

/** Opens all NAME.records of a folder. RM_E_SYSTEM; RM_E_VERSION: another version; RM_E_CONFIG: a file is no recorded
 * stream, is cut inside a record, or its turns do not grow. */
enum rm_code rm_recorded_folder_open(char const *path, struct rm_recorded_folder **folder, struct rm_error *error);

/** NULL is allowed. */
void rm_recorded_folder_close(struct rm_recorded_folder *folder);

/** What a replay is given. Valid until the folder is closed. */
struct rm_recorded_source rm_recorded_folder_source(struct rm_recorded_folder *folder);

#endif
