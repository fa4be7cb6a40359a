// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static size_t least_size(size_t left, size_t right) { return left < right ? left : right; }

/* The textbook table: cost[i][j] turns the first i letters of `left` into the first j of `right`. */
size_t rm_edit_distance(char const *left, char const *right) {
    size_t const rows = strnlen(left, LONGEST);
    size_t const columns = strnlen(right, LONGEST);
    unsigned char cost[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= rows; i++)
        cost[i][0] = (unsigned char)i;
    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            size_t const changed = cost[i - 1][j - 1] + (left[i - 1] != right[j - 1]);
            size_t best = least_size(changed, least_size(cost[i - 1][j], cost[i][j - 1]) + 1u);
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                best = least_size(best, cost[i - 2][j - 2] + 1u);
            cost[i][j] = (unsigned char)best;
        }
    }
    return cost[rows][columns];
}

/* A third of the letters may be wrong; more is another word. */
void rm_nearest_offer(struct rm_nearest *nearest, char const *name) {
    size_t const distance = rm_edit_distance(nearest->wanted, name);
    size_t const allowed = (strlen(nearest->wanted) + 2) / 3;
    if (distance <= allowed && (nearest->name == NULL || distance < nearest->distance)) {
        nearest->name = name;
        nearest->distance = distance;
    }
}
