// SPDX-License-Identifier: Apache-2.0
#include "calibration/column.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

/** Which unit a quantity has. */
enum dimension { PHYSICAL, PER_RAW, PER_RAW_2, PER_RAW_3, NUMBER, PER_PHYSICAL_2, PER_PHYSICAL_4 };

static struct {
    char const *name;
    enum dimension dimension;
} const quantities[RM_QUANTITIES] = {
    [RM_QUANTITY_OFFSET] = {"offset", PHYSICAL},
    [RM_QUANTITY_GAIN] = {"gain", PER_RAW},
    [RM_QUANTITY_C2] = {"c2", PER_RAW_2},
    [RM_QUANTITY_C3] = {"c3", PER_RAW_3},
    [RM_QUANTITY_K10] = {"k10", NUMBER},
    [RM_QUANTITY_K30] = {"k30", PER_PHYSICAL_2},
    [RM_QUANTITY_K12] = {"k12", PER_PHYSICAL_2},
    [RM_QUANTITY_K50] = {"k50", PER_PHYSICAL_4},
    [RM_QUANTITY_K32] = {"k32", PER_PHYSICAL_4},
    [RM_QUANTITY_K14] = {"k14", PER_PHYSICAL_4},
    [RM_QUANTITY_ELECTRICAL_OFFSET] = {"electrical_offset", PHYSICAL},
    [RM_QUANTITY_MECHANICAL_OFFSET] = {"mechanical_offset", PHYSICAL},
};

static struct {
    char const *unit;
    double factor;
} const angles[] = {{"rad", 1}, {"mrad", 1e-3}, {"urad", 1e-6}, {"µrad", 1e-6}};

static char const GRAMMAR[] = "expected instrument, bpm, LANE.QUANTITY [UNIT] such as \"x.gain [mm/nm]\", or "
                              "roll [mrad]";

char const *rm_calibration_quantity_name(enum rm_calibration_quantity quantity) { return quantities[quantity].name; }

/** Divides "NAME [UNIT]"; the unit stays empty where there is none. False when it does not fit. */
static bool divide_column_name(char const *cell, char *name, size_t name_bytes, char *unit, size_t unit_bytes) {
    size_t const length = strlen(cell);
    size_t named = strcspn(cell, "[");
    char const *const bracket = cell + named;
    while (named > 0 && (cell[named - 1] == ' ' || cell[named - 1] == '\t'))
        --named;
    if (named == 0 || named >= name_bytes)
        return false;
    snprintf(name, name_bytes, "%.*s", (int)named, cell);
    unit[0] = '\0';
    if (*bracket == '\0')
        return true;
    size_t const unit_length = length - (size_t)(bracket - cell) - 1;
    if (unit_length < 2 || unit_length > unit_bytes || cell[length - 1] != ']')
        return false;
    snprintf(unit, unit_bytes, "%.*s", (int)unit_length - 1, bracket + 1);
    return true;
}

static enum rm_code read_roll(struct rm_csv const *csv, struct rm_csv_cell const *cell, char const *suffix,
                              struct rm_calibration_column *column, struct rm_error *error) {
    column->kind = RM_COLUMN_ROLL;
    snprintf(column->name, sizeof column->name, "%s", suffix);
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i)
        if (strcmp(column->unit, angles[i].unit) == 0)
            column->factor = angles[i].factor;
    if (column->factor != 0)
        return RM_OK;
    return rm_csv_fail(csv, error, cell->column, "found the unit \"%s\", expected [rad], [mrad] or [urad]",
                       column->unit);
}

static enum rm_code read_lane(struct rm_csv const *csv, struct rm_csv_cell const *cell, char const *name,
                              struct rm_calibration_column *column, struct rm_error *error) {
    size_t const lane_bytes = strcspn(name, ".");
    if (name[lane_bytes] == '\0' || lane_bytes == 0 || lane_bytes >= sizeof column->name)
        return rm_csv_fail(csv, error, cell->column, "found \"%.60s\", %s", cell->text, GRAMMAR);
    column->kind = RM_COLUMN_LANE;
    snprintf(column->name, sizeof column->name, "%.*s", (int)lane_bytes, name);
    char const *const quantity = name + lane_bytes + 1;
    struct rm_nearest nearest = {.wanted = quantity};
    for (uint32_t i = 0; i < RM_QUANTITIES; ++i) {
        rm_nearest_offer(&nearest, quantities[i].name);
        if (strcmp(quantities[i].name, quantity) != 0)
            continue;
        column->quantity = (enum rm_calibration_quantity)i;
        if (column->unit[0] != '\0')
            return RM_OK;
        return rm_csv_fail(csv, error, cell->column,
                           "found \"%.60s\" without a unit, expected it in brackets: \"%s "
                           "[%s]\"",
                           cell->text, name, quantities[i].dimension == NUMBER ? "1" : "…");
    }
    return rm_csv_fail(csv, error, cell->column,
                       "unknown quantity \"%.40s\", expected offset, gain, c2, c3, k10, k30, k12, k50, k32, k14, "
                       "electrical_offset or mechanical_offset%s%s%s",
                       quantity, nearest.name != NULL ? " (did you mean \"" : "",
                       nearest.name != NULL ? nearest.name : "", nearest.name != NULL ? "\"?)" : "");
}

enum rm_code rm_calibration_read_column(struct rm_csv const *csv, uint32_t index, struct rm_calibration_column *column,
                                        struct rm_error *error) {
    struct rm_csv_cell const *const cell = &csv->cell[index];
    char name[64];
    *column = (struct rm_calibration_column){.kind = RM_COLUMN_INSTRUMENT};
    if (!divide_column_name(cell->text, name, sizeof name, column->unit, sizeof column->unit))
        return rm_csv_fail(csv, error, cell->column, "found \"%.60s\", %s", cell->text, GRAMMAR);
    if (strcmp(name, "instrument") == 0)
        return RM_OK;
    if (strcmp(name, "bpm") == 0) {
        column->kind = RM_COLUMN_BPM;
        return RM_OK;
    }
    bool const is_roll = strncmp(name, "roll", 4) == 0 && name[4 + strspn(name + 4, "0123456789")] == '\0';
    if (is_roll && strlen(name + 4) < sizeof column->name - 1)
        return read_roll(csv, cell, name + 4, column, error);
    return read_lane(csv, cell, name, column, error);
}

void rm_calibration_expected_unit(enum rm_calibration_quantity quantity, char const *raw, char const *physical,
                                  char text[RM_COLUMN_UNIT_BYTES]) {
    size_t const size = RM_COLUMN_UNIT_BYTES;
    switch (quantities[quantity].dimension) {
    case PHYSICAL:
        snprintf(text, size, "%s", physical);
        break;
    case PER_RAW:
        snprintf(text, size, "%s/%s", physical, raw);
        break;
    case PER_RAW_2:
        snprintf(text, size, "%s/%s^2", physical, raw);
        break;
    case PER_RAW_3:
        snprintf(text, size, "%s/%s^3", physical, raw);
        break;
    case NUMBER:
        snprintf(text, size, "1");
        break;
    case PER_PHYSICAL_2:
        snprintf(text, size, "1/%s^2", physical);
        break;
    case PER_PHYSICAL_4:
        snprintf(text, size, "1/%s^4", physical);
        break;
    }
}

bool rm_calibration_implied_unit(struct rm_calibration_column const *column, char const *raw,
                                 char physical[RM_UNIT_BYTES]) {
    enum dimension const dimension = quantities[column->quantity].dimension;
    physical[0] = '\0';
    if (dimension >= NUMBER)
        return true;
    char behind[RM_COLUMN_UNIT_BYTES];
    rm_calibration_expected_unit(column->quantity, raw, "", behind);
    size_t const length = strlen(column->unit), behind_length = strlen(behind);
    if (length <= behind_length || length - behind_length >= RM_UNIT_BYTES ||
        strcmp(column->unit + length - behind_length, behind) != 0)
        return false;
    snprintf(physical, RM_UNIT_BYTES, "%.*s", (int)(length - behind_length), column->unit);
    return true;
}
