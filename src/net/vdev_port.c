// SPDX-License-Identifier: Apache-2.0
/** The kinds of port that are one of DPDK's virtual devices and nothing else: a line in a table each. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/dpdk_port.h"
#include "net/socket_path.h"

enum {
    ARGUMENTS_BYTES = 256,
    MOST_VRING_SLOTS = 32768,
    DEFAULT_VRING_SLOTS = 1024,
    TAP_BUFFERS = 1024, /**< the driver's own ring, and those on their way */
};

/** One kind of virtual device. */
struct vdev {
    char const *word;       /**< for error texts */
    char const *driver;     /**< DPDK's */
    uint16_t most_queues;   /**< that the driver takes */
    uint32_t default_slots; /**< 0: the driver decides, and ring_slots cannot be given */
    uint32_t most_slots;
    uint32_t held_buffers; /**< per queue, where the slots do not say */
    bool sends;
    bool answers; /**< a peer is at the other end, so that there can be an exception path */
    bool sets_mtu;
    /** Checks what only this kind has, and writes the driver's arguments. */
    enum rm_code (*prepare)(struct rm_port_config const *config, uint32_t slots, char arguments[ARGUMENTS_BYTES],
                            struct rm_error *error);
};

static enum rm_code prepare_pcap(struct rm_port_config const *config, uint32_t slots, char arguments[ARGUMENTS_BYTES],
                                 struct rm_error *error) {
    (void)slots;
    if (memchr(config->file, '\0', sizeof config->file) == NULL || config->file[0] == '\0' ||
        strchr(config->file, ',') != NULL)
        return rm_fail(error, RM_E_CONFIG, "port '%s': pcap needs the path of a capture, at most %d bytes and no comma",
                       config->name, RM_PORT_PATH_BYTES - 1);
    if (access(config->file, R_OK) != 0)
        return rm_fail(error, RM_E_CONFIG, "port '%s': the capture %s cannot be read: %s", config->name, config->file,
                       strerror(errno));
    snprintf(arguments, ARGUMENTS_BYTES, "rx_pcap=%s", config->file);
    return RM_OK;
}

static enum rm_code prepare_null(struct rm_port_config const *config, uint32_t slots, char arguments[ARGUMENTS_BYTES],
                                 struct rm_error *error) {
    (void)config, (void)slots, (void)error;
    snprintf(arguments, ARGUMENTS_BYTES, "no-rx=1");
    return RM_OK;
}

static enum rm_code prepare_tap(struct rm_port_config const *config, uint32_t slots, char arguments[ARGUMENTS_BYTES],
                                struct rm_error *error) {
    (void)slots;
    size_t const length = strnlen(config->interface, sizeof config->interface);
    if (length == 0 || length > 15 || strpbrk(config->interface, ",/: ") != NULL) // IFNAMSIZ - 1
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': no interface can have that name; tap makes one of 1 to 15 bytes, such as rm0",
                       config->name);
    snprintf(arguments, ARGUMENTS_BYTES, "iface=%s", config->interface);
    return RM_OK;
}

static enum rm_code prepare_virtio_user(struct rm_port_config const *config, uint32_t slots,
                                        char arguments[ARGUMENTS_BYTES], struct rm_error *error) {
    enum rm_code const code = rm_socket_path_check(config, "virtio_user", error);
    if (code != RM_OK)
        return code;
    struct stat status;
    if (stat(config->socket_path, &status) != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "port '%s': there is no vhost-user socket %s (%s); start the host's end first", config->name,
                       config->socket_path, strerror(errno));
    // Whole frames in one buffer and used in order are the quickest of the driver's ways.
    snprintf(arguments, ARGUMENTS_BYTES, "path=%s,queues=%u,queue_size=%u,mrg_rxbuf=0,in_order=1", config->socket_path,
             config->spread ? 1 : config->queues, slots);
    return RM_OK;
}

static enum rm_code prepare_vhost(struct rm_port_config const *config, uint32_t slots, char arguments[ARGUMENTS_BYTES],
                                  struct rm_error *error) {
    (void)slots;
    enum rm_code code = rm_socket_path_check(config, "vhost", error);
    if (code == RM_OK)
        code = rm_socket_path_clear(config->name, config->socket_path, SOCK_STREAM, "vhost", error);
    snprintf(arguments, ARGUMENTS_BYTES, "iface=%s,queues=%u", config->socket_path,
             config->spread ? 1 : config->queues);
    return code;
}

static struct vdev const vdevs[] = {
    [RM_PORT_PCAP] = {.word = "pcap", .driver = "net_pcap", .most_queues = 1, .prepare = prepare_pcap},
    [RM_PORT_NULL] = {.word = "null", .driver = "net_null", .most_queues = 16, .sends = true, .prepare = prepare_null},
    [RM_PORT_TAP] = {.word = "tap",
                     .driver = "net_tap",
                     .most_queues = 16,
                     .held_buffers = TAP_BUFFERS,
                     .sends = true,
                     .answers = true,
                     .sets_mtu = true,
                     .prepare = prepare_tap},
    [RM_PORT_VIRTIO_USER] = {.word = "virtio_user",
                             .driver = "net_virtio_user",
                             .most_queues = 16,
                             .default_slots = DEFAULT_VRING_SLOTS,
                             .most_slots = MOST_VRING_SLOTS,
                             .sends = true,
                             .answers = true,
                             .prepare = prepare_virtio_user},
    [RM_PORT_VHOST] = {.word = "vhost",
                       .driver = "net_vhost",
                       .most_queues = 16,
                       .sends = true,
                       .answers = true,
                       .prepare = prepare_vhost},
};

static struct rm_port_ops const vdev_ops = {.framing = RM_FRAMING_ETHERNET,
                                            .receive = rm_dpdk_port_receive,
                                            .release = rm_dpdk_port_release,
                                            .discard = rm_dpdk_port_discard,
                                            .reserve = rm_dpdk_port_reserve,
                                            .send = rm_dpdk_port_send,
                                            .totals = rm_dpdk_port_totals,
                                            .mac = rm_dpdk_port_mac,
                                            .close = rm_dpdk_port_close};

/** The real-time signal that the tap driver has taken for itself; 0 when none is. */
static int driver_signal(void) {
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
        struct sigaction taken;
        if (sigaction(signal, NULL, &taken) == 0 && taken.sa_handler != SIG_DFL)
            return signal;
    }
    return 0;
}

/** The driver reads a tap only after a signal, which the kernel sends to the process when there is something to read;
 * some thread of it then has to wake up and take it. What the kernel answers at once (ARP, ping, TCP's
 * acknowledgements) is there already when a frame has been written, so this thread tells itself (bench/ping_through).
 */
static uint32_t send_to_tap(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    uint32_t const sent = rm_dpdk_port_send(port, queue, burst);
    if (sent != 0 && rm_dpdk_port(port)->wake_signal != 0)
        raise(rm_dpdk_port(port)->wake_signal);
    return sent;
}

static struct rm_port_ops const tap_ops = {.framing = RM_FRAMING_ETHERNET,
                                           .receive = rm_dpdk_port_receive,
                                           .release = rm_dpdk_port_release,
                                           .discard = rm_dpdk_port_discard,
                                           .reserve = rm_dpdk_port_reserve,
                                           .send = send_to_tap,
                                           .totals = rm_dpdk_port_totals,
                                           .mac = rm_dpdk_port_mac,
                                           .close = rm_dpdk_port_close};

static enum rm_code vdev_port_check(struct rm_port_config const *config, struct vdev const *vdev,
                                    struct rm_error *error) {
    uint16_t const queues = config->spread ? 1 : config->queues;
    if (queues > vdev->most_queues)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; %s takes at most %u", config->name, queues,
                       vdev->word, vdev->most_queues);
    if (config->ring_slots > vdev->most_slots)
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; %s takes at most %u%s", config->name,
                       config->ring_slots, vdev->word, vdev->most_slots,
                       vdev->most_slots == 0 ? ", for its own number" : "");
    if (config->exception_path && !vdev->answers)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': %s has no exception path: it has no other end that could be answered", config->name,
                       vdev->word);
    return RM_OK;
}

static enum rm_code open_vdev_device(struct rm_port *port, struct rm_port_config const *config, struct vdev const *vdev,
                                     struct rm_error *error) {
    uint32_t const slots = config->ring_slots != 0 ? config->ring_slots : vdev->default_slots;
    char arguments[ARGUMENTS_BYTES];
    enum rm_code const code = vdev->prepare(config, slots, arguments, error);
    if (code != RM_OK)
        return code;
    struct rm_dpdk_wants const wants = {.arguments = arguments,
                                        .send_queues = vdev->sends ? (config->spread ? 1 : config->queues) : 0,
                                        .descriptors = (uint16_t)slots,
                                        .held_buffers = slots != 0 ? 2 * slots : vdev->held_buffers,
                                        .sets_mtu = vdev->sets_mtu,
                                        .steer = &port->steer};
    rm_dpdk_port(port)->device.bus = "vdev";
    rm_dpdk_device_name(vdev->driver, rm_dpdk_port(port)->device.name);
    enum rm_code const opened = rm_dpdk_port_open(rm_dpdk_port(port), config, &wants, error);
    if (opened == RM_OK && config->kind == RM_PORT_TAP)
        rm_dpdk_port(port)->wake_signal = driver_signal();
    return opened;
}

enum rm_code rm_vdev_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    struct vdev const *const vdev = &vdevs[config->kind];
    enum rm_code code = vdev_port_check(config, vdev, error);
    if (code != RM_OK)
        return code;
    struct rm_port_ops const *const ops = config->kind == RM_PORT_TAP ? &tap_ops : &vdev_ops;
    struct rm_port *const made = rm_port_new(sizeof(struct rm_dpdk_device_port), ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    code = open_vdev_device(made, config, vdev, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
