// SPDX-License-Identifier: Apache-2.0
/** The feedback's singular values for test_feedback_solve.py: arrays in, arrays out. */
#include <string.h>

#include "apps/feedback/matrix/solve.h"

int property_feedback_solve(struct feedback_problem const *problem, double *inverse, double *spectrum, double *gain);

/** inverse [column · rows + row] = outputs · gain · errors; spectrum of the smaller of rows and columns that are in;
 * gain [mode]. Returns how many modes there are, or a negative code. */
int property_feedback_solve(struct feedback_problem const *problem, double *inverse, double *spectrum, double *gain) {
    struct feedback_basis basis;
    enum rm_code const code = feedback_solve(problem, &basis, NULL);
    if (code != RM_OK)
        return -(int)code;
    for (uint32_t c = 0; c < problem->columns; ++c)
        for (uint32_t r = 0; r < problem->rows; ++r) {
            double sum = 0;
            for (uint32_t k = 0; k < basis.channels; ++k) {
                double const output = basis.outputs == NULL ? k == c : basis.outputs[c * basis.channels + k];
                sum += output * basis.gain[k] * basis.errors[k * problem->rows + r];
            }
            inverse[c * problem->rows + r] = sum;
        }
    memcpy(spectrum, basis.spectrum, basis.spectrum_count * sizeof *spectrum);
    if (basis.outputs != NULL)
        memcpy(gain, basis.gain, basis.channels * sizeof *gain);
    int const modes = (int)basis.modes;
    feedback_basis_free(&basis);
    return modes;
}
