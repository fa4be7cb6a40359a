// SPDX-License-Identifier: Apache-2.0
/* The smallest program that reads cameras: a line for each frame.
 *
 *     cc frames.c $(ringmaster flags --libs) -lringmaster-frames -o frames
 *     ./frames cameras.yaml 10
 *
 * Where a receiver of the file's workspace runs (`ringmaster cameras run cameras.yaml`), it reads what that receives;
 * else it receives itself. */
#include <ringmaster/frames.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char const *const statuses[] = {"whole", "incomplete", "filled"};

static uint32_t frame_sum(struct rm_frame const *frame) {
    uint32_t sum = 0;
    for (uint64_t i = 0; i < frame->slot->length; ++i)
        sum += frame->bytes[i];
    return sum;
}

int main(int argc, char **argv) {
    struct rm_frames *frames;
    struct rm_frame frame;
    struct rm_error error;
    uint32_t camera;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts("usage: frames FILE.yaml FRAMES\n\nPrints a line for each of so many frames of the cameras that FILE "
             "lists.\n"
             "example: frames cameras.yaml 10");
        return 0;
    }
    if (argc != 3)
        errx(2, "expected a file of cameras and a number of frames, such as: frames cameras.yaml 10");
    if (rm_frames_open(argv[1], &frames, &error) != RM_OK)
        errx(1, "%s", error.text);
    puts("ready");
    fflush(stdout);
    for (long left = atol(argv[2]); left > 0;) {
        enum rm_frame_read const verdict = rm_frames_next(frames, 1000000000, &camera, &frame);
        if (verdict == RM_FRAME_ENDED)
            errx(1, "the receiver has ended");
        if (verdict != RM_FRAME_OK)
            continue;
        struct rm_image_slot const *const slot = frame.slot;
        printf("%s %llu %s %ux%u turn %lld sum %u\n", rm_frames_name(frames, camera), (unsigned long long)slot->number,
               statuses[slot->status], slot->width, slot->height, (long long)slot->turn, frame_sum(&frame));
        fflush(stdout);
        rm_frames_release(frames, camera, &frame);
        --left;
    }
    rm_frames_close(frames);
    return 0;
}
