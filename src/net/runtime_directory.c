// SPDX-License-Identifier: Apache-2.0
#include "net/runtime_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

static char const SOCKET_STEM[] = "dpdk_telemetry.v2";

void rm_runtime_directory_remove(void) { rmdir(rte_eal_get_runtime_dir()); }

/** True for STEM followed by the number of a process that is no more. */
static bool was_left(char const *name, char const *stem, size_t length) {
    char *end;
    if (strncmp(name, stem, length) != 0 || name[length] < '1' || name[length] > '9')
        return false;
    long const pid = strtol(name + length, &end, 10);
    return *end == '\0' && pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/** The next program of that name never has theirs. */
static void remove_left_directories(char const *own) {
    char const *const slash = strrchr(own, '/'), *const dash = strrchr(own, '-');
    char parent[PATH_MAX];
    if (slash == NULL || dash < slash || strspn(dash + 1, "0123456789") != strlen(dash + 1) ||
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - own), own) >= PATH_MAX)
        return;
    DIR *const listing = opendir(parent);
    if (listing == NULL)
        return;
    for (struct dirent const *entry; (entry = readdir(listing)) != NULL;)
        if (was_left(entry->d_name, slash + 1, (size_t)(dash - slash)))
            unlinkat(dirfd(listing), entry->d_name, AT_REMOVEDIR); // which fails, as it should, if something is in it
    closedir(listing);
}

/** True when connecting says so for certain. */
static bool socket_is_dead(char const *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >= (int)sizeof address.sun_path)
        return false;
    int const file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file < 0)
        return false;
    bool const dead = connect(file, (struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED;
    close(file);
    return dead;
}

/** DPDK itself removes one that has the very name it wants, and no others. */
static void remove_dead_sockets(char const *own) {
    DIR *const listing = opendir(own);
    if (listing == NULL)
        return;
    for (struct dirent const *entry; (entry = readdir(listing)) != NULL;) {
        char path[PATH_MAX];
        if (strncmp(entry->d_name, SOCKET_STEM, sizeof SOCKET_STEM - 1) == 0 &&
            snprintf(path, sizeof path, "%s/%s", own, entry->d_name) < PATH_MAX && socket_is_dead(path))
            unlink(path);
    }
    closedir(listing);
}

void rm_runtime_directory_tidy(void) {
    remove_dead_sockets(rte_eal_get_runtime_dir());
    remove_left_directories(rte_eal_get_runtime_dir());
}
