// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "calibration/column.h"
#include "calibration/table.h"

/** Columns that the table has for one name of a lane in one raw unit. */
struct family {
    char name[RM_LANE_NAME_BYTES]; /**< without the BPM's number */
    char const *unit;
    bool position; /**< x or y of a BPM: it has all quantities */
};

struct families {
    struct family *family;
    size_t count;
};

/** Quantities of a lane that is no position. */
enum { SIMPLE_QUANTITIES = RM_QUANTITY_GAIN + 1 };

/** Whether a lane is the x or y of a BPM, whose number then stands behind the first letter of its name. */
static bool is_position(struct rm_calibration const *calibration, uint32_t lane) {
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b)
        if ((uint32_t)calibration->bpm[b].x_lane == lane || (uint32_t)calibration->bpm[b].y_lane == lane)
            return true;
    return false;
}

static struct family family_of(struct rm_calibration const *calibration, struct rm_lane_info const *lanes,
                               uint32_t lane) {
    bool const position = is_position(calibration, lane);
    struct family family = {.unit = rm_calibration_unit_text(lanes[lane].unit), .position = position};
    snprintf(family.name, sizeof family.name, "%.*s", position ? 1 : (int)sizeof family.name, lanes[lane].name);
    return family;
}

static void add_family(struct families *families, struct family const *family) {
    for (size_t i = 0; i < families->count; ++i)
        if (strcmp(families->family[i].name, family->name) == 0 && strcmp(families->family[i].unit, family->unit) == 0)
            return;
    families->family[families->count++] = *family;
}

/** Instruments with BPMs are asked for their positions, others for all their lanes. */
static bool is_asked_for(struct rm_calibration const *calibration, uint32_t lane) {
    return calibration->bpm_count == 0 || is_position(calibration, lane);
}

static void collect_families(struct families *families, struct rm_calibration_instrument const *instrument) {
    struct rm_calibration identity;
    rm_calibration_identity(&identity, instrument->lane, instrument->lane_count);
    for (uint32_t i = 0; i < instrument->lane_count; ++i)
        if (is_asked_for(&identity, i)) {
            struct family const family = family_of(&identity, instrument->lane, i);
            add_family(families, &family);
        }
}

static uint32_t quantities_of(struct family const *family) {
    return family->position ? RM_QUANTITIES : SIMPLE_QUANTITIES;
}

static void write_head(FILE *out, struct families const *families) {
    fprintf(out, "instrument,bpm,roll [mrad]");
    for (size_t i = 0; i < families->count; ++i) {
        struct family const *const family = &families->family[i];
        for (uint32_t q = 0; q < quantities_of(family); ++q) {
            char unit[RM_COLUMN_UNIT_BYTES];
            rm_calibration_expected_unit((enum rm_calibration_quantity)q, family->unit, family->unit, unit);
            fprintf(out, ",%s.%s [%s]", family->name, rm_calibration_quantity_name((enum rm_calibration_quantity)q),
                    unit);
        }
    }
    fputc('\n', out);
}

/** Whether the row of this BPM ("" for an instrument without) has a lane of the family. */
static bool row_has(struct rm_calibration const *identity, struct rm_calibration_instrument const *instrument,
                    char const *bpm, struct family const *family) {
    for (uint32_t i = 0; i < instrument->lane_count; ++i) {
        struct family const found = family_of(identity, instrument->lane, i);
        char const *const number = found.position ? instrument->lane[i].name + 1 : "";
        if (strcmp(found.name, family->name) == 0 && strcmp(found.unit, family->unit) == 0 && strcmp(number, bpm) == 0)
            return true;
    }
    return false;
}

static void write_template_row(FILE *out, struct families const *families, struct rm_calibration const *identity,
                               struct rm_calibration_instrument const *instrument, char const *bpm) {
    fprintf(out, "%s,%s,", instrument->name, bpm);
    for (size_t i = 0; i < families->count; ++i) {
        bool const here = row_has(identity, instrument, bpm, &families->family[i]);
        for (uint32_t q = 0; q < quantities_of(&families->family[i]); ++q)
            fputs(here && q == RM_QUANTITY_GAIN ? ",1" : ",", out);
    }
    fputc('\n', out);
}

static void write_rows(FILE *out, struct families const *families, struct rm_calibration_instrument const *instrument) {
    struct rm_calibration identity;
    rm_calibration_identity(&identity, instrument->lane, instrument->lane_count);
    if (identity.bpm_count == 0)
        write_template_row(out, families, &identity, instrument, "");
    for (uint32_t b = 0; b < (uint32_t)identity.bpm_count; ++b)
        write_template_row(out, families, &identity, instrument,
                           instrument->lane[(uint32_t)identity.bpm[b].x_lane].name + 1);
}

enum rm_code rm_calibration_write_template(FILE *out, struct rm_calibration_instrument const *instruments, size_t count,
                                           struct rm_error *error) {
    struct families families = {.family = calloc(count * RM_LANES, sizeof *families.family)};
    if (families.family == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the columns of %zu instruments", count);
    for (size_t i = 0; i < count; ++i)
        collect_families(&families, &instruments[i]);
    write_head(out, &families);
    for (size_t i = 0; i < count; ++i)
        write_rows(out, &families, &instruments[i]);
    free(families.family);
    return RM_OK;
}
