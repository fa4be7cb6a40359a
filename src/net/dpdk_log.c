// SPDX-License-Identifier: Apache-2.0
#include "net/dpdk_log.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_log.h>

bool rm_dpdk_log_open(void) {
    int const file = memfd_create("ringmaster-dpdk-log", MFD_CLOEXEC);
    FILE *const stream = file < 0 ? NULL : fdopen(file, "a+"); // appending: emptying the file needs no seek
    if (stream == NULL) {
        if (file >= 0)
            close(file);
        return false;
    }
    rte_openlog_stream(stream);
    return true;
}

/** The stream of rm_dpdk_log_open, or NULL when DPDK logs to standard error. */
static FILE *memory_stream(void) {
    FILE *const stream = rte_log_get_stream();
    return stream == stderr || fileno(stream) < 0 ? NULL : stream;
}

void rm_dpdk_log_close(void) {
    FILE *const stream = memory_stream();
    if (stream == NULL)
        return;
    rte_openlog_stream(NULL);
    fclose(stream);
}

void rm_dpdk_log_clear(void) {
    FILE *const stream = memory_stream();
    if (stream == NULL)
        return;
    fflush(stream);
    // A memory file can always be made shorter; were it not so, the words would only be older.
    int const ignored = ftruncate(fileno(stream), 0);
    (void)ignored;
}

void rm_dpdk_log_words(char words[RM_DPDK_WORDS_BYTES]) {
    FILE *const stream = memory_stream();
    ssize_t length = 0;
    if (stream != NULL) {
        fflush(stream);
        length = pread(fileno(stream), words, RM_DPDK_WORDS_BYTES - 1, 0);
    }
    while (length > 0 && words[length - 1] == '\n')
        --length;
    if (length <= 0) {
        snprintf(words, RM_DPDK_WORDS_BYTES, "its log says nothing");
        return;
    }
    words[length] = '\0';
    for (char *end = strchr(words, '\n'); end != NULL; end = strchr(end, '\n'))
        *end = ';';
}
