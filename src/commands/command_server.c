// SPDX-License-Identifier: Apache-2.0
#include "commands/command_server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/background.h"
#include "base/fail.h"

/* A client, and the line that it has begun. */
struct client {
    int file; /* -1: nobody */
    size_t length;
    char line[RM_COMMAND_LINE_BYTES];
};

struct rm_command_server {
    struct rm_command_table table[RM_COMMAND_TABLES_MAX];
    uint32_t tables;

    int listener;
    int ending; /* an eventfd */
    struct client client[RM_COMMAND_CLIENTS_MAX];
    pthread_t thread;
    bool runs;
    char path[PATH_MAX];
};

static void client_close(struct client *client) {
    close(client->file);
    *client = (struct client){.file = -1};
}

static bool send_all(int file, char const *text, size_t length) {
    while (length != 0) {
        ssize_t const sent = send(file, text, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        text += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Writes the lines of `text`, each with a space before it. */
static void indent(char const *text, FILE *out) {
    while (*text != '\0') {
        size_t const length = strcspn(text, "\n");
        fprintf(out, " %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Runs a line, and returns what the client is told; NULL when memory is full. */
static char *answer_line(struct rm_command_server *server, char const *line, size_t *length) {
    char *body = NULL, *told = NULL;
    size_t body_length = 0;
    FILE *out = open_memstream(&body, &body_length);
    if (out == NULL)
        return NULL;
    struct rm_error error;
    enum rm_code const code = rm_command_run(server->table, server->tables, line, out, &error);
    fclose(out);
    out = open_memstream(&told, length);
    if (out != NULL) {
        indent(body, out);
        if (code == RM_OK)
            fputs("ok\n", out);
        else
            fprintf(out, "error: %s\n", error.text);
        fclose(out);
    }
    free(body);
    return told;
}

static void client_say(struct rm_command_server *server, struct client *client) {
    client->line[client->length] = '\0';
    client->length = 0;
    size_t length = 0;
    char *const told = answer_line(server, client->line, &length);
    if (told == NULL || !send_all(client->file, told, length))
        client_close(client);
    free(told);
}

/* Takes what has come; lines that are whole are answered at once. */
static void client_read(struct rm_command_server *server, struct client *client) {
    char bytes[RM_COMMAND_LINE_BYTES];
    ssize_t const count = recv(client->file, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        client_close(client);
        return;
    }
    for (ssize_t i = 0; i < count && client->file >= 0; i++) {
        if (bytes[i] == '\n') {
            client_say(server, client);
        } else if (bytes[i] == '\0' || client->length == RM_COMMAND_LINE_BYTES - 1) {
            static char const REFUSED[] = "error: the line is too long, or is no text\n";
            send_all(client->file, REFUSED, sizeof REFUSED - 1);
            client_close(client);
        } else {
            client->line[client->length++] = bytes[i];
        }
    }
}

static void client_accept(struct rm_command_server *server) {
    int const file = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (file < 0)
        return;
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = RM_COMMAND_SEND_SECONDS},
               sizeof(struct timeval));
    for (uint32_t i = 0; i < RM_COMMAND_CLIENTS_MAX; i++)
        if (server->client[i].file < 0) {
            server->client[i] = (struct client){.file = file};
            return;
        }
    static char const FULL[] = "error: too many clients are connected, come again later\n";
    send_all(file, FULL, sizeof FULL - 1);
    close(file);
}

static void *serve(void *argument) {
    struct rm_command_server *const server = argument;
    rm_background_enter();
    for (;;) {
        struct pollfd file[2 + RM_COMMAND_CLIENTS_MAX] = {{.fd = server->ending, .events = POLLIN},
                                                          {.fd = server->listener, .events = POLLIN}};
        for (uint32_t i = 0; i < RM_COMMAND_CLIENTS_MAX; i++)
            file[2 + i] = (struct pollfd){.fd = server->client[i].file, .events = POLLIN};
        if (poll(file, 2 + RM_COMMAND_CLIENTS_MAX, -1) < 0)
            continue;
        if (file[0].revents != 0)
            return NULL;
        for (uint32_t i = 0; i < RM_COMMAND_CLIENTS_MAX; i++)
            if (file[2 + i].fd >= 0 && file[2 + i].revents != 0)
                client_read(server, &server->client[i]);
        if (file[1].revents != 0)
            client_accept(server);
    }
}

/* Binds in the folder itself, however long its path is. */
static enum rm_code make_socket(struct rm_command_server *server, char const *folder, struct rm_error *error) {
    snprintf(server->path, sizeof server->path, "%.*s/%s", PATH_MAX - 16, folder, RM_COMMAND_SOCKET);
    int const directory = open(folder, O_DIRECTORY | O_PATH | O_CLOEXEC);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, RM_COMMAND_SOCKET);
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server->ending = eventfd(0, EFD_CLOEXEC);
    unlink(server->path);
    bool const made = directory >= 0 && server->listener >= 0 && server->ending >= 0 &&
                      bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                      chmod(server->path, 0600) == 0 && listen(server->listener, RM_COMMAND_CLIENTS_MAX) == 0;
    int const reason = errno;
    if (directory >= 0)
        close(directory);
    return made ? RM_OK : rm_fail(error, RM_E_SYSTEM, "%s: no socket for commands: %s", server->path, strerror(reason));
}

enum rm_code rm_command_server_start(char const *folder, struct rm_command_table const *table, uint32_t count,
                                     struct rm_command_server **server, struct rm_error *error) {
    struct rm_command_server *const made = calloc(1, sizeof *made);
    if (made == NULL || count > RM_COMMAND_TABLES_MAX) {
        free(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the commands' tables, of which there are %u", count);
    }
    memcpy(made->table, table, count * sizeof *table);
    made->tables = count;
    for (uint32_t i = 0; i < RM_COMMAND_CLIENTS_MAX; i++)
        made->client[i].file = -1;
    enum rm_code code = make_socket(made, folder, error);
    int const failed = code == RM_OK ? pthread_create(&made->thread, NULL, serve, made) : 0;
    if (failed != 0)
        code = rm_fail(error, RM_E_SYSTEM, "no thread for commands: %s", strerror(failed));
    made->runs = code == RM_OK;
    if (code == RM_OK)
        *server = made;
    else
        rm_command_server_stop(made);
    return code;
}

void rm_command_server_stop(struct rm_command_server *server) {
    if (server == NULL)
        return;
    if (server->runs) {
        eventfd_write(server->ending, 1);
        pthread_join(server->thread, NULL);
    }
    for (uint32_t i = 0; i < RM_COMMAND_CLIENTS_MAX; i++)
        if (server->client[i].file >= 0)
            close(server->client[i].file);
    if (server->listener >= 0)
        close(server->listener);
    if (server->ending >= 0)
        close(server->ending);
    unlink(server->path);
    free(server);
}
