// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <ringmaster/errors.h>

#include "solution.h"

/** The layout while it is laid out. */
struct laying {
    struct feedback_configuration const *configuration;
    struct feedback_layout *layout;
    int32_t *family; /**< [column] */
};

static uint32_t pad_to_block(uint32_t count) {
    return (count + FEEDBACK_OUTPUT_BLOCK - 1) / FEEDBACK_OUTPUT_BLOCK * FEEDBACK_OUTPUT_BLOCK;
}

static bool is_of(struct laying const *laying, uint32_t column, uint32_t family, char plane) {
    return laying->family[column] == (int32_t)family &&
           (plane == 'b' || feedback_column_plane(&laying->configuration->matrix, column) == plane);
}

/* Channels that a part can have: correctors, or as many modes as its rows and columns allow. */
static uint32_t most_channels(struct laying const *laying, struct feedback_part const *part) {
    struct feedback_configuration const *configuration = laying->configuration;
    uint32_t rows = 0;
    if (!configuration->family[part->family].acts)
        return 0;
    if (configuration->per == FEEDBACK_PER_CORRECTOR)
        return part->columns;
    for (uint32_t r = 0; r < configuration->matrix.rows; ++r)
        rows += part->plane == 'b' || feedback_row_plane(configuration->matrix.row_name[r]) == part->plane;
    return rows < part->columns ? rows : part->columns;
}

static bool lay_part(struct laying *laying, uint32_t family, char plane) {
    struct feedback_layout *layout = laying->layout;
    uint32_t columns = 0;
    for (uint32_t c = 0; c < layout->actuators; ++c)
        columns += is_of(laying, c, family, plane);
    if (columns == 0)
        return true;
    if (layout->outputs + pad_to_block(columns) > FEEDBACK_OUTPUTS_MAX)
        return false;
    struct feedback_part *part = &layout->part[layout->part_count++];
    *part = (struct feedback_part){.family = family,
                                   .plane = plane,
                                   .first = layout->outputs,
                                   .outputs = pad_to_block(columns),
                                   .columns = columns};
    part->channels_most = most_channels(laying, part);
    uint32_t output = part->first;
    for (uint32_t c = 0; c < layout->actuators; ++c)
        if (is_of(laying, c, family, plane)) {
            layout->output_of[c] = output;
            layout->column_of[output++] = c;
        }
    layout->outputs += part->outputs;
    return true;
}

static bool lay_plane(struct laying *laying, char plane) {
    bool fits = true;
    for (uint32_t f = 0; f < laying->configuration->family_count && fits; ++f)
        fits = lay_part(laying, f, plane);
    return fits;
}

/* Channels are told family after family, while outputs lie plane after plane. */
static void number_channels(struct laying *laying) {
    struct feedback_layout *layout = laying->layout;
    for (uint32_t f = 0; f < laying->configuration->family_count; ++f)
        for (uint32_t p = 0; p < layout->part_count; ++p)
            if (layout->part[p].family == f) {
                layout->part[p].channel = layout->channels;
                layout->channels += layout->part[p].channels_most;
            }
}

int32_t feedback_layout_taker(struct feedback_configuration const *configuration, struct feedback_layout const *layout,
                              uint32_t part) {
    int32_t const family = configuration->family[layout->part[part].family].unload_to;
    for (uint32_t p = 0; p < layout->part_count && family >= 0; ++p)
        if (layout->part[p].family == (uint32_t)family && layout->part[p].plane == layout->part[part].plane)
            return (int32_t)p;
    return -1;
}

static enum rm_code check_takers(struct laying const *laying, struct rm_error *error) {
    struct feedback_configuration const *configuration = laying->configuration;
    for (uint32_t p = 0; p < laying->layout->part_count; ++p) {
        struct feedback_family const *family = &configuration->family[laying->layout->part[p].family];
        if (family->unload_to >= 0 && feedback_layout_taker(configuration, laying->layout, p) < 0)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: the family \"%s\" has actuators in the plane %c, but \"%s\", which it unloads to, "
                           "has none there",
                           configuration->path, family->name, laying->layout->part[p].plane,
                           configuration->family[family->unload_to].name);
    }
    return RM_OK;
}

static enum rm_code lay_out_matrix(struct laying *laying, struct rm_error *error) {
    struct feedback_configuration const *configuration = laying->configuration;
    enum rm_code const code = feedback_families_assign(configuration, laying->family, error);
    if (code != RM_OK)
        return code;
    bool const fits =
        configuration->coupled ? lay_plane(laying, 'b') : lay_plane(laying, 'x') && lay_plane(laying, 'y');
    if (!fits)
        return rm_fail(error, RM_E_CONFIG, "%s: the families have more than %d actuators, padding included",
                       configuration->path, FEEDBACK_OUTPUTS_MAX);
    number_channels(laying);
    return check_takers(laying, error);
}

static uint32_t *make_numbers(uint32_t count) {
    uint32_t *made = malloc(count * sizeof *made);
    for (uint32_t i = 0; made != NULL && i < count; ++i)
        made[i] = UINT32_MAX;
    return made;
}

enum rm_code feedback_layout_make(struct feedback_configuration const *configuration, struct feedback_layout *layout,
                                  struct rm_error *error) {
    uint32_t const columns = configuration->matrix.columns;
    *layout = (struct feedback_layout){.rows = configuration->matrix.rows, .actuators = columns};
    layout->output_of = make_numbers(columns);
    layout->column_of = make_numbers(FEEDBACK_OUTPUTS_MAX);
    struct laying laying = {configuration, layout, calloc(columns, sizeof(int32_t))};
    enum rm_code code = RM_E_NO_SPACE;
    if (layout->output_of == NULL || layout->column_of == NULL || laying.family == NULL)
        code = rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the layout", configuration->path);
    else
        code = lay_out_matrix(&laying, error);
    free(laying.family);
    if (code != RM_OK)
        feedback_layout_free(layout);
    return code;
}

void feedback_layout_free(struct feedback_layout *layout) {
    free(layout->output_of);
    free(layout->column_of);
    *layout = (struct feedback_layout){.rows = 0};
}
