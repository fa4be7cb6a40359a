// SPDX-License-Identifier: Apache-2.0
/** Lapping stress of images: a writer at full speed on eight slots, and more reading processes than there are leases.
 *
 *     test_images_lap READS
 *
 * Every byte of a frame follows from its number, and so do description and map. Each reader checks all of what it
 * leases, twice, and that sequences only rise. Fails at the first frame that is torn, of another number, or changed while
 * it was leased; and when a reader was never lapped, because then it tested nothing. Readers are processes, so that
 * nothing but the locks of the kernel stands between them and the writer. */
#include <inttypes.h>

#include "fabric/test_images_steps.h"

enum { READERS = 4 };

struct images_tally {
    uint64_t read, lapped, passed_over, without_lease, wrong;
};

/** Half of the reads are of the newest frame, and some frames are kept while others come. */
static void lap_read(struct rm_images_reader *reader, uint64_t *last, struct images_tally *tally) {
    struct rm_frame frame;
    bool const newest = tally->read % 2 == 1;
    enum rm_frame_read const verdict =
        newest ? rm_images_newest(reader, A_SECOND_NS, &frame) : rm_images_next(reader, A_SECOND_NS, &frame);
    tally->without_lease += verdict == RM_FRAME_NO_LEASE;
    if (verdict != RM_FRAME_OK)
        return;
    bool good = frame.sequence > *last && frame.passed_over == frame.sequence - *last - 1;
    good = images_frame_good(&frame, frame.sequence) && good;
    if (tally->read % 16 == 0)
        usleep(0);
    good = images_frame_good(&frame, frame.sequence) && good;
    *last = frame.sequence;
    ++tally->read;
    tally->lapped += frame.passed_over > 0;
    tally->passed_over += frame.passed_over;
    tally->wrong += !good;
    if (!good)
        printf("WRONG: sequence %" PRIu64 " has number %" PRIu64 "\n", frame.sequence, frame.slot->number);
    rm_images_release(reader, &frame);
}

static bool lap_reader(struct images_test *test, uint64_t reads) {
    struct images_tally tally = {0};
    struct rm_images_reader *reader = NULL;
    if (rm_images_reader_new(&test->view, &reader, NULL) != RM_OK)
        return false;
    struct rm_frame frame;
    while (rm_images_next(reader, A_SECOND_NS, &frame) != RM_FRAME_OK)
        continue;
    uint64_t last = frame.sequence;
    rm_images_release(reader, &frame);
    while (tally.read < reads && tally.wrong == 0)
        lap_read(reader, &last, &tally);
    rm_images_reader_free(reader);
    printf("%" PRIu64 " read, %" PRIu64 " wrong, lapped %" PRIu64 " times by %" PRIu64 " frames, no lease %" PRIu64
           " times%s\n",
           tally.read, tally.wrong, tally.lapped, tally.passed_over, tally.without_lease,
           tally.lapped == 0 ? ": NEVER LAPPED, so this run shows nothing" : "");
    fflush(stdout);
    return tally.wrong == 0 && tally.lapped > 0;
}

/** True while one of them reads. */
static bool lap_still_read(int *left, bool *good) {
    int status;
    while (*left > 0 && waitpid(-1, &status, WNOHANG) > 0) {
        --*left;
        *good = *good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return *left > 0;
}

int main(int argument_count, char **arguments) {
    uint64_t const reads = argument_count > 1 ? strtoull(arguments[1], NULL, 10) : 10000;
    struct images_test test = {0};
    if (!test_workspaces_make(test.workspaces, sizeof test.workspaces))
        return 2;
    images_owner_open(&test, LEASES);
    images_attach(&test);
    for (int i = 0; i < READERS; ++i) {
        pid_t const child = fork();
        if (child == 0)
            _exit(lap_reader(&test, reads) ? 0 : 1);
        if (child < 0)
            return 2;
    }
    int left = READERS;
    bool good = true;
    uint64_t number = 0, full = 0;
    while (lap_still_read(&left, &good)) {
        uint32_t const slot = number < SLOTS ? (uint32_t)number : rm_images_reclaim(test.writer);
        if (slot < SLOTS)
            images_publish(&test, slot, ++number);
        else
            ++full;
    }
    printf("%" PRIu64 " frames written, %" PRIu64 " times no slot\n", number, full);
    images_detach(&test);
    images_owner_close(&test);
    test_workspaces_remove(test.workspaces);
    return good ? 0 : 1;
}
