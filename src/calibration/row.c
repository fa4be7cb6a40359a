// SPDX-License-Identifier: Apache-2.0
#include "calibration/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char const *rm_calibration_guess(struct rm_nearest const *nearest, char text[64]) {
    text[0] = '\0';
    if (nearest->name != NULL)
        snprintf(text, 64, " (did you mean \"%s\"?)", nearest->name);
    return text;
}

/** The lane called `name` and the row's suffix, which must not be another row's already. */
static enum rm_code find_lane(struct rm_calibration_table const *table, struct rm_calibration_row const *row,
                              uint32_t cell, char const *name, uint32_t *lane) {
    struct rm_calibration_instrument const *const instrument = row->instrument;
    char wanted[2 * RM_LANE_NAME_BYTES];
    snprintf(wanted, sizeof wanted, "%s%.*s", name, RM_LANE_NAME_BYTES - 1, row->suffix);
    struct rm_nearest nearest = {.wanted = wanted};
    for (uint32_t i = 0; i < instrument->lane_count; ++i) {
        rm_nearest_offer(&nearest, instrument->lane[i].name);
        if (strcmp(instrument->lane[i].name, wanted) != 0)
            continue;
        *lane = i;
        if (instrument->line[i] == 0)
            return RM_OK;
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                           "lane %s of %s has its calibration in line %u already, expected one row for it", wanted,
                           instrument->name, instrument->line[i]);
    }
    char text[64];
    return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell), "%s has no lane \"%s\"%s",
                       instrument->name, wanted, rm_calibration_guess(&nearest, text));
}

/** Index of the BPM that a lane belongs to; RM_CALIBRATION_BPMS for other lanes. */
static uint32_t find_bpm(struct rm_calibration const *calibration, uint32_t lane) {
    for (uint32_t b = 0; b < (uint32_t)calibration->bpm_count; ++b)
        if ((uint32_t)calibration->bpm[b].x_lane == lane || (uint32_t)calibration->bpm[b].y_lane == lane)
            return b;
    return RM_CALIBRATION_BPMS;
}

/** Where a quantity goes of a lane that belongs to BPM `bpm`, if it is one of steps 2 to 5. */
static double *calibrated_value_of(struct rm_calibration *calibration, uint32_t lane, uint32_t bpm,
                                   enum rm_calibration_quantity quantity) {
    if (quantity <= RM_QUANTITY_C3)
        return &calibration->lane[lane].c[quantity];
    struct rm_calibration_bpm *const found = &calibration->bpm[bpm];
    struct rm_calibration_plane *const plane = (uint32_t)found->x_lane == lane ? &found->x : &found->y;
    if (quantity <= RM_QUANTITY_K14)
        return &plane->k[quantity - RM_QUANTITY_K10];
    return quantity == RM_QUANTITY_ELECTRICAL_OFFSET ? &plane->electrical_offset : &plane->mechanical_offset;
}

static enum rm_code fail_unit(struct rm_calibration_table const *table, struct rm_calibration_row const *row,
                              uint32_t cell, uint32_t lane, char const *physical) {
    struct rm_calibration_column const *const column = &table->column[cell];
    struct rm_lane_info const *const info = &row->instrument->lane[lane];
    char expected[RM_COLUMN_UNIT_BYTES];
    rm_calibration_expected_unit(column->quantity, rm_calibration_unit_text(info->unit), physical, expected);
    return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                       "the column's unit is %s, expected %s: lane %s of %s is sent in %s", column->unit, expected,
                       info->name, row->instrument->name, rm_calibration_unit_text(info->unit));
}

/** Notes that the row gives a quantity of a lane, and which unit follows from it. */
static enum rm_code note_calibrated_cell(struct rm_calibration_table const *table, struct rm_calibration_row *row,
                                         uint32_t cell, uint32_t lane) {
    struct rm_calibration_column const *const column = &table->column[cell];
    struct rm_lane_info const *const info = &row->instrument->lane[lane];
    char implied[RM_UNIT_BYTES];
    if ((row->given[lane] >> column->quantity & 1u) != 0)
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                           "the %s of lane %s is given twice in this row",
                           rm_calibration_quantity_name(column->quantity), info->name);
    row->given[lane] |= 1u << column->quantity;
    row->cell[lane] = cell;
    if (!rm_calibration_implied_unit(column, rm_calibration_unit_text(info->unit), implied))
        return fail_unit(table, row, cell, lane, row->implied[lane][0] != '\0' ? row->implied[lane] : "…");
    if (implied[0] == '\0')
        return RM_OK;
    if (row->implied[lane][0] != '\0' && strcmp(row->implied[lane], implied) != 0)
        return fail_unit(table, row, cell, lane, row->implied[lane]);
    memcpy(row->implied[lane], implied, sizeof implied);
    return RM_OK;
}

static enum rm_code read_lane_cell(struct rm_calibration_table const *table, struct rm_calibration_row *row,
                                   uint32_t cell) {
    struct rm_calibration_column const *const column = &table->column[cell];
    uint32_t lane = 0;
    enum rm_code code = find_lane(table, row, cell, column->name, &lane);
    if (code != RM_OK)
        return code;
    struct rm_calibration *const calibration = &row->instrument->calibration;
    uint32_t const bpm = find_bpm(calibration, lane);
    char const *const quantity = rm_calibration_quantity_name(column->quantity);
    if (column->quantity > RM_QUANTITY_C3 && bpm == RM_CALIBRATION_BPMS)
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                           "lane %s of %s is not the x or y of a BPM, so it has no %s",
                           row->instrument->lane[lane].name, row->instrument->name, quantity);
    double *const value = calibrated_value_of(calibration, lane, bpm, column->quantity);
    code = rm_csv_number(&table->csv, &table->csv.cell[cell], quantity, value, table->error);
    if (code != RM_OK)
        return code;
    bool const scales = column->quantity == RM_QUANTITY_GAIN || column->quantity == RM_QUANTITY_K10;
    if (scales && *value == 0)
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                           "found a %s of 0, which loses the reading", quantity);
    return note_calibrated_cell(table, row, cell, lane);
}

static enum rm_code read_roll_cell(struct rm_calibration_table const *table, struct rm_calibration_row *row,
                                   uint32_t cell) {
    char x_name[RM_LANE_NAME_BYTES + 1], y_name[RM_LANE_NAME_BYTES + 1];
    snprintf(x_name, sizeof x_name, "x%.*s", RM_LANE_NAME_BYTES - 2, table->column[cell].name);
    snprintf(y_name, sizeof y_name, "y%.*s", RM_LANE_NAME_BYTES - 2, table->column[cell].name);
    uint32_t x = 0, y = 0;
    enum rm_code code = find_lane(table, row, cell, x_name, &x);
    if (code == RM_OK)
        code = find_lane(table, row, cell, y_name, &y);
    double roll;
    if (code == RM_OK)
        code = rm_csv_number(&table->csv, &table->csv.cell[cell], "the roll", &roll, table->error);
    if (code != RM_OK)
        return code;
    struct rm_calibration *const calibration = &row->instrument->calibration;
    uint32_t const bpm = find_bpm(calibration, x);
    if (bpm == RM_CALIBRATION_BPMS)
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                           "%s and %s of %s are no BPM, whose lanes are x and y with a number, so they have no roll",
                           row->instrument->lane[x].name, row->instrument->lane[y].name, row->instrument->name);
    calibration->bpm[bpm].roll_rad = roll * table->column[cell].factor;
    if ((row->given[x] >> RM_QUANTITIES & 1u) != 0)
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                           "the roll of %s and %s is given twice in this row", row->instrument->lane[x].name,
                           row->instrument->lane[y].name);
    row->given[x] |= 1u << RM_QUANTITIES;
    row->given[y] |= 1u << RM_QUANTITIES;
    row->cell[x] = row->cell[y] = cell;
    return RM_OK;
}

static enum rm_code read_cells(struct rm_calibration_table const *table, struct rm_calibration_row *row) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < table->csv.cell_count; ++i) {
        if (table->csv.cell[i].text[0] == '\0')
            continue;
        if (i >= table->column_count)
            return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, i),
                               "the row has %u cells, expected at most %u", table->csv.cell_count, table->column_count);
        if (table->column[i].kind == RM_COLUMN_LANE)
            code = read_lane_cell(table, row, i);
        else if (table->column[i].kind == RM_COLUMN_ROLL)
            code = read_roll_cell(table, row, i);
    }
    return code;
}

/** The k… of every lane must be in its unit, which is known now. */
static enum rm_code check_orders(struct rm_calibration_table const *table, struct rm_calibration_row const *row) {
    for (uint32_t i = 0; i < table->csv.cell_count; ++i) {
        struct rm_calibration_column const *const column = &table->column[i];
        if (table->csv.cell[i].text[0] == '\0' || column->kind != RM_COLUMN_LANE ||
            column->quantity < RM_QUANTITY_K10 || column->quantity > RM_QUANTITY_K14)
            continue;
        uint32_t lane = 0;
        enum rm_code const code = find_lane(table, row, i, column->name, &lane);
        if (code != RM_OK)
            return code;
        char expected[RM_COLUMN_UNIT_BYTES];
        char const *const physical = rm_calibration_unit_text(row->instrument->unit[lane]);
        rm_calibration_expected_unit(column->quantity, "", physical, expected);
        if (strcmp(expected, column->unit) != 0)
            return fail_unit(table, row, i, lane, physical);
    }
    return RM_OK;
}

static enum rm_code resolve_lane(struct rm_calibration_table const *table, struct rm_calibration_row const *row,
                                 uint32_t lane) {
    struct rm_calibration_instrument *const instrument = row->instrument;
    struct rm_lane_info const *const info = &instrument->lane[lane];
    if (row->implied[lane][0] != '\0')
        memcpy(instrument->unit[lane], row->implied[lane], RM_UNIT_BYTES);
    char const *const raw = rm_calibration_unit_text(info->unit);
    char const *const physical = rm_calibration_unit_text(instrument->unit[lane]);
    if (strcmp(physical, raw) == 0 || (row->given[lane] >> RM_QUANTITY_GAIN & 1u) != 0)
        return RM_OK;
    return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, row->cell[lane]),
                       "lane %s of %s is sent in %s and becomes %s, expected its gain too, in %s/%s", info->name,
                       instrument->name, raw, physical, physical, raw);
}

/** A BPM is calibrated in both planes, and in one unit. */
static enum rm_code resolve_bpm(struct rm_calibration_table const *table, struct rm_calibration_row *row,
                                struct rm_calibration_bpm const *bpm) {
    struct rm_calibration_instrument const *const instrument = row->instrument;
    uint32_t const x = (uint32_t)bpm->x_lane, y = (uint32_t)bpm->y_lane;
    if (row->given[x] == 0 && row->given[y] == 0)
        return RM_OK;
    uint32_t const cell = row->cell[row->given[x] != 0 ? x : y];
    row->given[x] |= 1u << RM_QUANTITIES;
    row->given[y] |= 1u << RM_QUANTITIES;
    if (strcmp(instrument->unit[x], instrument->unit[y]) == 0)
        return RM_OK;
    return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                       "%s of %s becomes %s and %s %s, expected one unit for both planes of a BPM",
                       instrument->lane[x].name, instrument->name, instrument->unit[x], instrument->lane[y].name,
                       instrument->unit[y]);
}

static enum rm_code resolve_row(struct rm_calibration_table const *table, struct rm_calibration_row *row) {
    struct rm_calibration_instrument *const instrument = row->instrument;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < instrument->lane_count; ++i)
        if (row->given[i] != 0)
            code = resolve_lane(table, row, i);
    if (code == RM_OK)
        code = check_orders(table, row);
    for (uint32_t b = 0; code == RM_OK && b < (uint32_t)instrument->calibration.bpm_count; ++b)
        code = resolve_bpm(table, row, &instrument->calibration.bpm[b]);
    for (uint32_t i = 0; i < instrument->lane_count; ++i) {
        if (row->given[i] == 0)
            continue;
        instrument->line[i] = table->csv.line;
        instrument->calibration.calibrated_lanes += (double)(1u << i);
    }
    return code;
}

enum rm_code rm_calibration_read_row(struct rm_calibration_table const *table, struct rm_calibration_row *row) {
    enum rm_code const code = read_cells(table, row);
    return code == RM_OK ? resolve_row(table, row) : code;
}
