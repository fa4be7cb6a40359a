// SPDX-License-Identifier: Apache-2.0
/** ringmaster-veth-pair [--links N] [--mtu M]: makes N veth pairs between two new network namespaces (see veth_pair.h),
 * prints the two process ids that hold them in one line, and removes everything when its standard input ends:
 *
 *     coproc PAIR { ringmaster-veth-pair; }; read A B <&${PAIR[0]}
 *     nsenter --net=/proc/$A/ns/net COMMAND & nsenter --net=/proc/$B/ns/net COMMAND
 *
 * Exit status 77, which test runners take as skipped, where namespaces cannot be made; 2 for options that it has not.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "veth_pair.h"

enum { WRONG_USAGE = 2, SKIPPED = 77 };

static bool read_number_argument(char const *text, int least, int most, int *number) {
    char *end = NULL;
    long const found = strtol(text, &end, 10);
    if (end == text || *end != '\0' || found < least || found > most) {
        fprintf(stderr, "ringmaster-veth-pair: found '%s', expected a number from %d to %d\n", text, least, most);
        return false;
    }
    *number = (int)found;
    return true;
}

static bool read_namespace_options(int argc, char **argv, struct rm_veth_links *links) {
    struct option const known[] = {
        {"links", required_argument, NULL, 'l'}, {"mtu", required_argument, NULL, 'm'}, {NULL, 0, NULL, 0}};
    for (int which = 0; (which = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        bool const good = which == 'l'   ? read_number_argument(optarg, 1, RM_VETH_LINKS_MAX, &links->count)
                          : which == 'm' ? read_number_argument(optarg, RM_VETH_MTU_MIN, RM_VETH_MTU_MAX, &links->mtu)
                                         : false;
        if (!good)
            return false;
    }
    return optind == argc;
}

int main(int argc, char **argv) {
    struct rm_veth_links links = {.count = 1, .mtu = 1500};
    if (!read_namespace_options(argc, argv, &links)) {
        fprintf(stderr, "Usage: ringmaster-veth-pair [--links N] [--mtu BYTES]\n");
        return WRONG_USAGE;
    }
    struct rm_veth_pair pair;
    if (!rm_veth_links_make(&pair, links))
        return SKIPPED;
    printf("%d %d\n", pair.holder[0], pair.holder[1]);
    fflush(stdout);
    char bytes[64];
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0)
        ;
    rm_veth_pair_remove(&pair);
    return 0;
}
