// SPDX-License-Identifier: Apache-2.0
#include "commands/command_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static enum rm_code echo(void *context, struct rm_arguments const *arguments, FILE *answer, struct rm_error *error) {
    (void)context;
    (void)error;
    for (uint32_t i = 0; i < arguments->count; i++)
        fprintf(answer, "%s\n", arguments->word[i]);
    return RM_OK;
}

static struct rm_command const COMMANDS[] = {{"echo …", "says it again", echo}};

struct place {
    char folder[64];
    char path[96];
    struct rm_command_server *server;
};

static int start(void **state) {
    static struct place place;
    place = (struct place){.folder = "/tmp/ringmaster-commands-XXXXXX"};
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof place.path, "%s/commands", place.folder);
    struct rm_command_table const table = {COMMANDS, 1, NULL};
    struct rm_error error;
    assert_int_equal(rm_command_server_start(place.folder, &table, 1, &place.server, &error), RM_OK);
    *state = &place;
    return 0;
}

static int stop(void **state) {
    struct place *const place = *state;
    rm_command_server_stop(place->server);
    assert_int_equal(access(place->path, F_OK), -1);
    return rmdir(place->folder);
}

static int connect_to(struct place const *place) {
    int const file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, place->path);
    assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof address), 0);
    return file;
}

/* Sends a line, if there is one: the other end may have been closed already. Reads so many bytes as are expected; or up
 * to the end. */
static void ask(int file, char const *line, char const *expected) {
    char told[4096] = "";
    size_t length = 0;
    if (line[0] != '\0')
        assert_int_equal(send(file, line, strlen(line), MSG_NOSIGNAL), strlen(line));
    while (length < strlen(expected)) {
        ssize_t const count = recv(file, told + length, sizeof told - 1 - length, 0);
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    told[length] = '\0';
    assert_string_equal(told, expected);
}

static void lines_are_answered(void **state) {
    int const file = connect_to(*state);
    ask(file, "echo ok two\n", " ok\n two\nok\n");
    ask(file, "nothing\n", "error: \"nothing\" begins no command, expected one of those that \"help\" lists\n");
    ask(file, "ec", "");
    ask(file, "ho 1\necho 2\n", " 1\nok\n 2\nok\n");
    close(file);
}

static void only_its_user_may_speak(void **state) {
    struct place const *const place = *state;
    struct stat status;
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void one_too_many_is_told_so(void **state) {
    int file[RM_COMMAND_CLIENTS_MAX];
    for (int i = 0; i < RM_COMMAND_CLIENTS_MAX; i++) {
        file[i] = connect_to(*state);
        ask(file[i], "echo 1\n", " 1\nok\n"); /* so it has been accepted */
    }
    int const late = connect_to(*state);
    ask(late, "", "error: too many clients are connected, come again later\n");
    close(late);
    ask(file[3], "echo 2\n", " 2\nok\n");
    for (int i = 0; i < RM_COMMAND_CLIENTS_MAX; i++)
        close(file[i]);
}

static void garbage_closes_only_its_sender(void **state) {
    int const good = connect_to(*state);
    int const bad = connect_to(*state);
    char garbage[2 * RM_COMMAND_LINE_BYTES];
    memset(garbage, 'x', sizeof garbage);
    send(bad, garbage, sizeof garbage, MSG_NOSIGNAL);
    ask(bad, "", "error: the line is too long, or is no text\n");
    ask(good, "echo 1\n", " 1\nok\n");
    close(bad);
    close(good);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_answered, start, stop),
        cmocka_unit_test_setup_teardown(only_its_user_may_speak, start, stop),
        cmocka_unit_test_setup_teardown(one_too_many_is_told_so, start, stop),
        cmocka_unit_test_setup_teardown(garbage_closes_only_its_sender, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
