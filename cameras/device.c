// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <string.h>

#include "base/timebase.h"
#include "wire/network_order.h"

enum {
    WORD = 4,
    PAIR = 8,
    WRITTEN_BYTES = 4,
    PRIVILEGES = RM_DEVICE_EXCLUSIVE | RM_DEVICE_CONTROL,
    LATCH_TIME = 2,
    MILLISECOND_NS = 1000000,
};

/** A command while it is answered. */
struct device_turn {
    struct rm_camera_device *device;
    struct rm_device_client from;
    uint64_t now_ns;
    struct rm_gvcp_command command;
    struct rm_device_answer *answer;
};

enum rm_code rm_camera_device_new(struct rm_virtual_camera const *camera, struct rm_camera_device *device,
                                  struct rm_error *error) {
    *device = (struct rm_camera_device){0};
    return rm_device_registers_new(camera, &device->registers, error);
}

void rm_camera_device_free(struct rm_camera_device *device) { rm_device_registers_free(&device->registers); }

static void answer_write(struct device_turn *turn, enum rm_gvcp_status status, uint32_t length) {
    uint32_t const header = rm_gvcp_write_acknowledge(turn->answer->bytes, status, &turn->command, length);
    turn->answer->length = header + length;
}

static uint8_t *answer_bytes(struct device_turn *turn) { return turn->answer->bytes + RM_GVCP_HEADER_BYTES; }

static bool is_owner(struct device_turn const *turn) {
    return turn->from.port != 0 && turn->device->owner_port == turn->from.port &&
           turn->device->owner_ipv4 == turn->from.ipv4;
}

static void device_release(struct rm_camera_device *device) {
    device->owner_port = 0;
    rm_device_register_set(&device->registers, RM_DEVICE_PRIVILEGE, 0);
    rm_device_register_set(&device->registers, RM_DEVICE_STREAM_PORT, 0);
}

/** Takes control, keeps it, or gives it back. */
static enum rm_gvcp_status privilege_write(struct device_turn *turn, uint32_t value) {
    struct rm_camera_device *const device = turn->device;
    if (turn->from.port == 0 || (device->owner_port != 0 && !is_owner(turn)))
        return RM_GVCP_ACCESS_DENIED;
    if ((value & PRIVILEGES) == 0) {
        device_release(device);
        turn->answer->action = RM_DEVICE_STREAM_ENDS;
        return RM_GVCP_SUCCESS;
    }
    device->owner_ipv4 = turn->from.ipv4;
    device->owner_port = turn->from.port;
    device->heard_ns = turn->now_ns;
    rm_device_register_set(&device->registers, RM_DEVICE_PRIVILEGE, value & PRIVILEGES);
    return RM_GVCP_SUCCESS;
}

static void latch_time(struct rm_device_registers *registers) {
    uint64_t const now_ns = rm_tai_ns();
    rm_device_register_set(registers, RM_DEVICE_TIME_HIGH, (uint32_t)(now_ns >> 32));
    rm_device_register_set(registers, RM_DEVICE_TIME_LOW, (uint32_t)now_ns);
}

static enum rm_gvcp_status turn_write(struct device_turn *turn, uint32_t address, uint32_t value) {
    struct rm_device_registers *const registers = &turn->device->registers;
    if (address == RM_DEVICE_PRIVILEGE)
        return privilege_write(turn, value);
    if (!is_owner(turn))
        return RM_GVCP_ACCESS_DENIED;
    enum rm_gvcp_status const status = rm_device_registers_write(registers, address, value);
    if (status != RM_GVCP_SUCCESS)
        return status;
    if (address == RM_DEVICE_START)
        turn->answer->action = RM_DEVICE_STREAM_BEGINS;
    if (address == RM_DEVICE_STOP)
        turn->answer->action = RM_DEVICE_STREAM_ENDS;
    if (address == RM_DEVICE_TIME_CONTROL && value & LATCH_TIME)
        latch_time(registers);
    return RM_GVCP_SUCCESS;
}

static enum rm_gvcp_status discovery_answer(struct device_turn *turn, uint32_t *length) {
    *length = RM_GVCP_DISCOVERY_BYTES;
    return rm_device_registers_read(&turn->device->registers, 0, answer_bytes(turn), RM_GVCP_DISCOVERY_BYTES);
}

static enum rm_gvcp_status read_registers(struct device_turn *turn, uint32_t *length) {
    uint32_t const count = turn->command.length / WORD;
    if (count == 0 || count * WORD > RM_GVCP_MEMORY_MAX)
        return RM_GVCP_INVALID_PARAMETER;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const address = rm_load32(turn->command.bytes + i * WORD);
        if (address % WORD != 0)
            return RM_GVCP_BAD_ALIGNMENT;
        enum rm_gvcp_status const status =
            rm_device_registers_read(&turn->device->registers, address, answer_bytes(turn) + i * WORD, WORD);
        if (status != RM_GVCP_SUCCESS)
            return status;
        *length += WORD;
    }
    return RM_GVCP_SUCCESS;
}

/** Says how many were written, also where one of them was refused. */
static enum rm_gvcp_status written(struct device_turn *turn, enum rm_gvcp_status status, uint32_t count,
                                   uint32_t *length) {
    rm_store32(answer_bytes(turn), count);
    *length = WRITTEN_BYTES;
    return status;
}

static enum rm_gvcp_status write_registers(struct device_turn *turn, uint32_t *length) {
    uint32_t const count = turn->command.length / PAIR;
    enum rm_gvcp_status status = count == 0 ? RM_GVCP_INVALID_PARAMETER : RM_GVCP_SUCCESS;
    uint32_t done = 0;
    while (done < count && status == RM_GVCP_SUCCESS) {
        uint8_t const *const pair = turn->command.bytes + done * PAIR;
        status = turn_write(turn, rm_load32(pair), rm_load32(pair + WORD));
        done += status == RM_GVCP_SUCCESS;
    }
    return written(turn, status, done, length);
}

static enum rm_gvcp_status read_memory(struct device_turn *turn, uint32_t *length) {
    if (turn->command.length < PAIR)
        return RM_GVCP_INVALID_PARAMETER;
    uint32_t const address = rm_load32(turn->command.bytes);
    uint32_t const count = rm_load16(turn->command.bytes + WORD + 2);
    if (count == 0 || count > RM_GVCP_MEMORY_MAX)
        return RM_GVCP_INVALID_PARAMETER;
    if (address % WORD != 0 || count % WORD != 0)
        return RM_GVCP_BAD_ALIGNMENT;
    enum rm_gvcp_status const status =
        rm_device_registers_read(&turn->device->registers, address, answer_bytes(turn) + WORD, count);
    if (status != RM_GVCP_SUCCESS)
        return status;
    rm_store32(answer_bytes(turn), address);
    *length = WORD + count;
    return RM_GVCP_SUCCESS;
}

static enum rm_gvcp_status write_memory(struct device_turn *turn, uint32_t *length) {
    if (turn->command.length < PAIR)
        return RM_GVCP_INVALID_PARAMETER;
    uint32_t const address = rm_load32(turn->command.bytes), count = turn->command.length - WORD;
    if (count % WORD != 0)
        return RM_GVCP_BAD_ALIGNMENT;
    enum rm_gvcp_status status = RM_GVCP_SUCCESS;
    uint32_t done = 0;
    while (done < count && status == RM_GVCP_SUCCESS) {
        status = turn_write(turn, address + done, rm_load32(turn->command.bytes + WORD + done));
        done += status == RM_GVCP_SUCCESS ? WORD : 0;
    }
    return written(turn, status, done, length);
}

static enum rm_gvcp_status command_answer(struct device_turn *turn, uint32_t *length) {
    switch (turn->command.number) {
    case RM_GVCP_DISCOVERY:
        return discovery_answer(turn, length);
    case RM_GVCP_READREG:
        return read_registers(turn, length);
    case RM_GVCP_WRITEREG:
        return write_registers(turn, length);
    case RM_GVCP_READMEM:
        return read_memory(turn, length);
    case RM_GVCP_WRITEMEM:
        return write_memory(turn, length);
    default:
        return RM_GVCP_NOT_IMPLEMENTED;
    }
}

/** Packets of a stream that runs are sent again for the host that controls it, whichever socket asks: programs ask by the
 * socket of their stream, or by that of their commands. There is no acknowledge. */
static void resend_take(struct device_turn *turn) {
    struct rm_device_answer *const answer = turn->answer;
    bool const from_owner = turn->device->owner_port != 0 && turn->device->owner_ipv4 == turn->from.ipv4;
    if (from_owner && turn->device->registers.running && rm_gvcp_read_resend(&turn->command, &answer->resend))
        answer->action = RM_DEVICE_SENDS_AGAIN;
    else
        turn->device->refused++;
}

void rm_camera_device_take(struct rm_camera_device *device, struct rm_device_client from, uint8_t const *payload,
                           uint32_t length, uint64_t now_ns, struct rm_device_answer *answer) {
    struct device_turn turn = {.device = device, .from = from, .now_ns = now_ns, .answer = answer};
    answer->length = 0;
    answer->action = RM_DEVICE_NO_ACTION;
    if (!rm_gvcp_parse(payload, length, &turn.command)) {
        device->unreadable++;
        return;
    }
    if (is_owner(&turn))
        device->heard_ns = now_ns;
    if (turn.command.number == RM_GVCP_RESEND) {
        resend_take(&turn);
        return;
    }
    uint32_t bytes = 0;
    enum rm_gvcp_status const status = command_answer(&turn, &bytes);
    device->answered += status == RM_GVCP_SUCCESS;
    device->refused += status != RM_GVCP_SUCCESS;
    if (turn.command.wants_acknowledge)
        answer_write(&turn, status, bytes);
}

bool rm_camera_device_expire(struct rm_camera_device *device, uint64_t now_ns) {
    uint64_t const most_ns = (uint64_t)rm_device_register(&device->registers, RM_DEVICE_HEARTBEAT_MS) * MILLISECOND_NS;
    if (device->owner_port == 0 || (int64_t)(now_ns - device->heard_ns) < (int64_t)most_ns)
        return false;
    device_release(device);
    return true;
}
