// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "options.h"

enum { BUFFER_BYTES = 1 << 20 };

char const *const rm_recorded_name[RM_RECORDED_FILES] = {
    "readings.i32", "tags.u64", "setpoints.f64", "sent.f64", "currents.f64", "streams.f32", "reported.f64",
};

static unsigned const WANTED_BY[RM_RECORDED_FILES] = {
    RM_RECORD_READINGS, RM_RECORD_READINGS, RM_RECORD_SETPOINTS, RM_RECORD_SENT,
    RM_RECORD_CURRENTS, RM_RECORD_STREAMS,  RM_RECORD_REPORTED,
};

FILE *rm_recording_file(char const *folder, char const *name, struct rm_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    return file;
}

enum rm_code rm_recording_open(char const *folder, unsigned record, struct rm_recording *recording,
                               struct rm_error *error) {
    *recording = (struct rm_recording){.folder = folder};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return rm_fail(error, RM_E_SYSTEM, "--out: %s: %s", folder, strerror(errno));
    for (unsigned f = 0; f < RM_RECORDED_FILES; ++f) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, rm_recorded_name[f]);
        if ((record & WANTED_BY[f]) == 0) {
            remove(path); // of an earlier simulation, which would be taken for this one's
            continue;
        }
        recording->file[f] = rm_recording_file(folder, rm_recorded_name[f], error);
        if (recording->file[f] == NULL)
            return RM_E_SYSTEM;
        setvbuf(recording->file[f], NULL, _IOFBF, BUFFER_BYTES);
    }
    return RM_OK;
}

void rm_recording_put(struct rm_recording *recording, enum rm_recorded which, void const *data, size_t bytes) {
    if (recording->file[which] != NULL && bytes > 0)
        fwrite(data, 1, bytes, recording->file[which]); // what fails is found at the end
}

enum rm_code rm_recording_close(struct rm_recording *recording, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (unsigned f = 0; f < RM_RECORDED_FILES; ++f) {
        if (recording->file[f] == NULL)
            continue;
        bool const failed = ferror(recording->file[f]) != 0;
        if (fclose(recording->file[f]) != 0 || failed)
            code = rm_fail(error, RM_E_SYSTEM, "%s/%s: not all could be written: %s", recording->folder,
                           rm_recorded_name[f], strerror(errno));
        recording->file[f] = NULL;
    }
    return code;
}
