// SPDX-License-Identifier: Apache-2.0
#include "follow.h"

#include <stdio.h>
#include <string.h>

#include "base/timebase.h"

/** Between looks for a stream that is not there, and for its owner's life. */
static uint64_t const LOOK_NS = 500000000;

void rm_spot_follow_begin(struct rm_spot_follow *follow, struct rm_camera_spot const *spot, char const *workspace) {
    *follow = (struct rm_spot_follow){.spot = spot};
    if (spot->follow[0] != '\0')
        snprintf(follow->workspace, sizeof follow->workspace, "%s", workspace);
}

void rm_spot_follow_end(struct rm_spot_follow *follow) {
    rm_workspace_detach(follow->attached);
    follow->attached = NULL;
}

static void follow_attach(struct rm_spot_follow *follow) {
    if (rm_workspace_attach(follow->workspace, 0, &follow->attached, NULL) != RM_OK) {
        follow->attached = NULL;
        return;
    }
    bool found = rm_workspace_stream(follow->attached, follow->spot->follow, &follow->view, NULL) == RM_OK;
    if (found) {
        follow->lane_x = rm_stream_lane(follow->view.header, follow->spot->follow_x);
        follow->lane_y = rm_stream_lane(follow->view.header, follow->spot->follow_y);
        found = follow->lane_x >= 0 && follow->lane_y >= 0;
    }
    if (!found)
        rm_spot_follow_end(follow);
}

/** Twice a second: is it there, and does its owner live? */
static void follow_look(struct rm_spot_follow *follow) {
    uint64_t const now = rm_monotonic_ns();
    if (follow->workspace[0] == '\0' || now < follow->look_ns)
        return;
    follow->look_ns = now + LOOK_NS;
    if (follow->attached != NULL && !rm_workspace_alive(follow->attached))
        rm_spot_follow_end(follow);
    if (follow->attached == NULL)
        follow_attach(follow);
}

bool rm_spot_follow_read(struct rm_spot_follow *follow, double *x, double *y, rm_turn *turn) {
    follow_look(follow);
    if (follow->attached == NULL)
        return false;
    rm_turn const head = rm_stream_head(&follow->view);
    struct rm_record record;
    if (head == RM_TURN_NONE || rm_stream_read(&follow->view, head, &record) != RM_READ_OK)
        return false;
    *x += follow->spot->pixels_per_unit * rm_lane_value(follow->view.header, &record, (unsigned)follow->lane_x);
    *y += follow->spot->pixels_per_unit * rm_lane_value(follow->view.header, &record, (unsigned)follow->lane_y);
    *turn = head;
    return true;
}
