// SPDX-License-Identifier: Apache-2.0
#include "test_world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_files.h"

enum { TIMEOUT_SECONDS = 20 };

static void open_receiver(struct test_world *world, uint32_t index) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)world->udp_port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK + index)};
    socklen_t length = sizeof address;
    struct timeval const timeout = {.tv_sec = TIMEOUT_SECONDS};
    int const receiver = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(receiver >= 0);
    assert_int_equal(bind(receiver, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(receiver, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
    world->receiver[index] = receiver;
    world->udp_port = ntohs(address.sin_port);
}

struct test_world *test_world_make(char const *program) {
    struct test_world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->program = program;
    strcpy(world->directory, "/tmp/test_ring.XXXXXX");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->config, sizeof world->config, "%s/machine.yaml", world->directory);
    snprintf(world->overlay, sizeof world->overlay, "%s/ring.yaml", world->directory);
    world->files = (struct rm_ring_files){.config = world->config, .overlay = world->overlay};
    setenv("RINGMASTER_WORKSPACES", world->directory, 1);
    for (uint32_t r = 0; r < TEST_WORLD_RECEIVERS; ++r)
        open_receiver(world, r);
    return world;
}

void test_world_destroy(struct test_world *world) {
    char const *const files[] = {"machine.yaml", "ring.yaml",         "beam.replay", "said", "ws/ring.segment",
                                 "ws/ring.lock", "ws/server.segment", "ws",          ""};
    for (unsigned f = 0; f < sizeof files / sizeof files[0]; ++f) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", world->directory, files[f]);
        remove(path);
    }
    for (uint32_t r = 0; r < TEST_WORLD_RECEIVERS; ++r)
        close(world->receiver[r]);
    free(world);
}

void test_world_write(struct test_world const *world, char const *machine, char const *overlay) {
    char text[2048], port[96];
    snprintf(port, sizeof port, "ports: [{name: ring, kind: udp, address: 127.0.0.1:%u}]\n", world->udp_port);
    int const length = snprintf(text, sizeof text, "workspace: ws\nturn_rate_hz: 20000\n%s%s",
                                strstr(machine, "ports:") == NULL ? port : "", machine);
    assert_in_range(length, 1, sizeof text - 1);
    test_files_write_machine(world->config, text);
    FILE *file = fopen(world->overlay, "w");
    assert_non_null(file);
    fprintf(file, "first_turn: 5000\nseed: 3\n%s", overlay);
    fclose(file);
}

static void keep_output(struct test_world *world, FILE *from) {
    size_t const length = fread(world->output, 1, sizeof world->output - 1, from);
    world->output[length] = '\0';
}

int test_world_run(struct test_world *world, char const *before, char const *arguments) {
    char command[512], line[256], files[128];
    snprintf(files, sizeof files, "%s %s", world->config, world->overlay);
    snprintf(line, sizeof line, arguments, files);
    snprintf(command, sizeof command, "%s '%s' %s 2>&1", before, world->program, line);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    keep_output(world, pipe);
    int const status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t test_world_start(struct test_world const *world, char const *option, char const *value) {
    char path[64];
    snprintf(path, sizeof path, "%s/said", world->directory);
    pid_t const pid = fork();
    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a test that fails in between */
    int const said = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    execl(world->program, world->program, "run", world->config, world->overlay, option, value, (char *)NULL);
    _exit(127);
}

int test_world_end(struct test_world *world, pid_t pid) {
    char path[64];
    int status = 0;
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    snprintf(path, sizeof path, "%s/said", world->directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    keep_output(world, file);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void test_world_check_output(struct test_world const *world, char const *expected) {
    if (strstr(world->output, expected) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", expected, world->output);
}

static struct test_arrival const *take(struct test_world *world, uint32_t receiver, int flags) {
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    struct test_arrival *arrival = &world->arrival;
    ssize_t const bytes = recvfrom(world->receiver[receiver], arrival->payload, sizeof arrival->payload, flags,
                                   (struct sockaddr *)&from, &length);
    if (bytes < 0)
        return NULL;
    arrival->length = (uint32_t)bytes;
    arrival->source_ipv4 = ntohl(from.sin_addr.s_addr);
    return arrival;
}

struct test_arrival const *test_world_await(struct test_world *world) {
    return take(world, 0, 0);
}

struct test_arrival const *test_world_receive(struct test_world *world, uint32_t receiver) {
    return take(world, receiver, MSG_DONTWAIT);
}

void const *test_world_object(struct rm_mapped_segment const *mapped, char const *name) {
    char const *start = (char const *)mapped->header;
    struct rm_object const *directory =
        (struct rm_object const *)(void const *)(start + mapped->header->directory_offset);
    for (uint32_t i = 0; i < mapped->header->object_count; ++i)
        if (strcmp(directory[i].name, name) == 0)
            return start + directory[i].offset;
    fail_msg("no object \"%s\"", name);
    return NULL;
}

void test_world_keep(struct test_world const *world) {
    char path[64];
    snprintf(path, sizeof path, "%s/ws", world->directory);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/ws/server.segment", world->directory);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

void test_world_map(struct test_world const *world, struct rm_mapped_segment *mapped) {
    char workspace[48];
    snprintf(workspace, sizeof workspace, "%s/ws", world->directory);
    assert_int_equal(rm_segment_map_readonly(workspace, "ring", mapped, NULL), RM_OK);
}
