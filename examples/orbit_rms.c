// SPDX-License-Identifier: Apache-2.0
/** Waits for turns and prints the RMS of the horizontal orbit, ten times a second.
 *
 *     cc -O2 orbit_rms.c $(pkg-config --cflags --libs ringmaster) -lm -o orbit_rms
 *     ./orbit_rms demo 50
 *
 * Every stream "bpmNN/fast" of the workspace (one record per 12 turns) is a BPM electronics; its lane 0 is x1 in nm.
 * All streams are addressed by the same turn number, so one turn of all of them is one orbit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ringmaster/workspace.h>

enum { BPMS_MAX = 512, PERIOD = 12, TURNS_PER_PRINT = 115704, SECOND = 1000000000 };

static size_t find_bpms(struct rm_workspace *workspace, struct rm_stream_view *bpm) {
    size_t found = 0;
    for (int i = 1; i < BPMS_MAX; ++i) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "bpm%02d/fast", i);
        if (rm_workspace_stream(workspace, name, &bpm[found], NULL) == RM_OK)
            ++found;
    }
    return found;
}

int main(int argc, char **argv) {
    char const *name = argc > 1 ? argv[1] : "demo";
    int const prints = argc > 2 ? atoi(argv[2]) : 10;
    struct rm_workspace *workspace;
    struct rm_error error;
    if (rm_workspace_attach(name, 0, &workspace, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct rm_stream_view bpm[BPMS_MAX];
    size_t const count = find_bpms(workspace, bpm);
    if (count == 0 || !rm_stream_wait(&bpm[0], 0, 5ull * SECOND)) {
        fprintf(stderr, "workspace \"%s\": no BPM sends\n", name);
        rm_workspace_detach(workspace);
        return 1;
    }
    rm_turn turn = rm_stream_head(&bpm[0]) / PERIOD * PERIOD;
    for (int print = 0; print < prints; ++print, turn += TURNS_PER_PRINT) {
        double squares = 0.0;
        int good = 0;
        for (size_t i = 0; i < count; ++i) {
            struct rm_record record;
            if (!rm_stream_wait(&bpm[i], turn, 20ull * SECOND) || rm_stream_read(&bpm[i], turn, &record) != RM_READ_OK)
                continue; /* lost or silent: the orbit does without it */
            squares += (double)record.lane[0].f * (double)record.lane[0].f;
            ++good;
        }
        printf("turn %llu  %3d of %zu BPMs  x RMS %9.3f um\n", (unsigned long long)turn, good, count,
               good > 0 ? sqrt(squares / good) * 1e-3 : NAN);
        fflush(stdout);
    }
    rm_workspace_detach(workspace);
    return 0;
}
