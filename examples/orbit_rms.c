// SPDX-License-Identifier: Apache-2.0
/** Waits for turns and prints the RMS over BPMs of a lane, ten times a second.
 *
 *     cc -O2 orbit_rms.c $(pkg-config --cflags --libs ringmaster) -o orbit_rms
 *     ./orbit_rms demo 50
 *     ./orbit_rms --help
 *
 * Every stream "bpmNN/fast" of the workspace (one record per 12 turns) is a BPM electronics; its lane "x1" is in nm.
 * All streams are addressed by the same turn number, so one turn of all of them is one orbit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/workspace.h>

enum { BPMS_MAX = 512, TURNS_PER_PRINT = 115704, SECOND = 1000000000 };

/** What is asked for. */
struct options {
    char const *workspace, *rate, *lane;
    int prints;
};

struct bpms {
    struct rm_stream_view stream[BPMS_MAX];
    unsigned lane[BPMS_MAX];
    size_t count;
};

static struct options parse(int argc, char **argv) {
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf(
            "usage: orbit_rms [WORKSPACE [PRINTS [RATE [LANE]]]]\n\n"
            "Prints the RMS of LANE (x1) over the streams bpmNN/RATE (fast) of WORKSPACE (demo), PRINTS (10) times.\n");
        exit(0);
    }
    struct options options = {.workspace = "demo", .rate = "fast", .lane = "x1", .prints = 10};
    if (argc > 1)
        options.workspace = argv[1];
    if (argc > 2)
        options.prints = atoi(argv[2]);
    if (argc > 3)
        options.rate = argv[3];
    if (argc > 4)
        options.lane = argv[4];
    if (argc > 5 || options.prints <= 0 || options.workspace[0] == '-') {
        fprintf(stderr, "expected [WORKSPACE [PRINTS [RATE [LANE]]]], PRINTS being 1 or more; --help says more\n");
        exit(2);
    }
    return options;
}

/** Says which lanes there are. */
static bool fail_lane(char const *name, struct rm_stream const *stream, char const *lane) {
    fprintf(stderr, "%s has no lane %s; it has:", name, lane);
    for (unsigned i = 0; i < stream->lane_count; ++i)
        fprintf(stderr, " %s", stream->lane[i].name);
    fprintf(stderr, "\n");
    return false;
}

/** False when there is none, or one of them lacks the lane. */
static bool find_bpms(struct rm_workspace *workspace, struct options const *options, struct bpms *bpms) {
    for (int i = 1; i < BPMS_MAX; ++i) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "bpm%02d/%s", i, options->rate);
        struct rm_stream_view *const stream = &bpms->stream[bpms->count];
        if (rm_workspace_stream(workspace, name, stream, NULL) != RM_OK)
            continue;
        int const lane = rm_stream_lane(stream->header, options->lane);
        if (lane < 0)
            return fail_lane(name, stream->header, options->lane);
        bpms->lane[bpms->count++] = (unsigned)lane;
    }
    if (bpms->count == 0)
        fprintf(stderr, "workspace \"%s\" has no stream bpmNN/%s; `ringmaster ls %s` says what it has\n",
                options->workspace, options->rate, options->workspace);
    return bpms->count != 0;
}

static void print_turn(struct bpms const *bpms, rm_turn turn) {
    double squares = 0.0;
    int good = 0;
    for (size_t i = 0; i < bpms->count; ++i) {
        struct rm_record record;
        if (!rm_stream_wait(&bpms->stream[i], turn, 20ull * SECOND) ||
            rm_stream_read(&bpms->stream[i], turn, &record) != RM_READ_OK)
            continue; /* lost or silent: the orbit does without it */
        double const value = rm_lane_value(bpms->stream[i].header, &record, bpms->lane[i]);
        squares += value * value;
        ++good;
    }
    struct rm_lane_info const *const lane = &bpms->stream[0].header->lane[bpms->lane[0]];
    printf("turn %llu  %3d of %zu BPMs  %s RMS %9.3f %s\n", (unsigned long long)turn, good, bpms->count, lane->name,
           good > 0 ? sqrt(squares / good) : NAN, lane->unit);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static struct bpms bpms;
    struct options const options = parse(argc, argv);
    struct rm_workspace *workspace;
    struct rm_error error;
    if (rm_workspace_attach(options.workspace, 0, &workspace, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    bool const found = find_bpms(workspace, &options, &bpms);
    bool const sends = found && rm_stream_wait(&bpms.stream[0], 0, 5ull * SECOND);
    if (found && !sends)
        fprintf(stderr, "workspace \"%s\": the first of %zu BPMs sends nothing\n", options.workspace, bpms.count);
    if (sends) {
        uint64_t const period = bpms.stream[0].period;
        uint64_t const step = (TURNS_PER_PRINT + period - 1) / period * period;
        rm_turn turn = rm_stream_head(&bpms.stream[0]) / period * period;
        for (int print = 0; print < options.prints; ++print, turn += step)
            print_turn(&bpms, turn);
    }
    rm_workspace_detach(workspace);
    return sends ? 0 : 1;
}
