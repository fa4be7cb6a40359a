// SPDX-License-Identifier: Apache-2.0
#include "departures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

enum rm_code rm_departures_new(struct rm_departures *departures, char const *path, uint32_t links, uint64_t cycles,
                               struct rm_error *error) {
    *departures = (struct rm_departures){.path = path, .links = links};
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; path != NULL && i < links && code == RM_OK; ++i)
        code = rm_cycles_new(&departures->of_link[i], cycles, error);
    return code;
}

static enum rm_code departures_fail(char const *path, struct rm_error *error) {
    return rm_fail(error, RM_E_SYSTEM, "--cycles: cannot write %s: %s", path, strerror(errno));
}

enum rm_code rm_departures_write(struct rm_departures const *departures, uint64_t cycles, struct rm_error *error) {
    if (departures->path == NULL)
        return RM_OK;
    struct rm_tally_range const all = {0, cycles};
    FILE *const file = fopen(departures->path, "wbe");
    if (file == NULL)
        return departures_fail(departures->path, error);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < departures->links && code == RM_OK; ++i)
        code = rm_cycles_write(&departures->of_link[i], i, &all, file, error);
    if (fclose(file) != 0 && code == RM_OK)
        code = departures_fail(departures->path, error);
    return code;
}

void rm_departures_free(struct rm_departures *departures) {
    for (uint32_t i = 0; i < departures->links; ++i)
        rm_cycles_free(&departures->of_link[i]);
}
