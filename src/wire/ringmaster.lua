-- SPDX-License-Identifier: Apache-2.0
-- Shows Ringmaster's native datagrams (docs/native-format.md) and its setpoints (docs/setpoint-format.md) in Wireshark
-- and tshark:
--     tshark -X lua_script:ringmaster.lua -O ringmaster -r native.pcap
--     tshark -X lua_script:ringmaster.lua -O ringmaster_setpoint -r setpoints.pcap
-- Lanes are shown twice, as integers and as floats: the server's configuration knows which they are.

local ringmaster = Proto("ringmaster", "Ringmaster native datagram")

local kinds = {
    [1] = "BPM", [2] = "BLM", [3] = "LLRF", [4] = "photon BPM", [5] = "interlock", [6] = "power supply",
}

local f = {
    magic = ProtoField.uint16("ringmaster.magic", "Magic", base.HEX),
    version = ProtoField.uint8("ringmaster.version", "Version"),
    kind = ProtoField.uint8("ringmaster.kind", "Kind", base.DEC, kinds),
    instrument = ProtoField.uint16("ringmaster.instrument", "Instrument"),
    status = ProtoField.uint16("ringmaster.status", "Status", base.HEX),
    turn = ProtoField.uint64("ringmaster.turn", "Turn", base.DEC),
    lane_i32 = ProtoField.int32("ringmaster.lane_i32", "Lane as i32"),
    lane_f32 = ProtoField.float("ringmaster.lane_f32", "Lane as f32"),
}
ringmaster.fields = { f.magic, f.version, f.kind, f.instrument, f.status, f.turn, f.lane_i32, f.lane_f32 }

function ringmaster.dissector(buffer, packet, tree)
    local length = buffer:len()
    if length < 20 or length > 64 or length % 4 ~= 0 or buffer(0, 3):le_uint() ~= 0x014D52 then
        return 0 -- not ours, or another version
    end
    packet.cols.protocol = "RINGMASTER"
    local kind, instrument, turn = buffer(3, 1):uint(), buffer(4, 2):le_uint(), buffer(8, 8):le_uint64()
    packet.cols.info = string.format("%s %d turn %s", kinds[kind] or "kind " .. kind, instrument, tostring(turn))
    local branch = tree:add(ringmaster, buffer())
    branch:add_le(f.magic, buffer(0, 2))
    branch:add_le(f.version, buffer(2, 1))
    branch:add_le(f.kind, buffer(3, 1))
    branch:add_le(f.instrument, buffer(4, 2))
    branch:add_le(f.status, buffer(6, 2))
    branch:add_le(f.turn, buffer(8, 8))
    for offset = 16, length - 4, 4 do
        branch:add_le(f.lane_i32, buffer(offset, 4))
        branch:add_le(f.lane_f32, buffer(offset, 4))
    end
    return length
end

DissectorTable.get("udp.port"):add(4660, ringmaster)

local setpoint = Proto("ringmaster_setpoint", "Ringmaster setpoint datagram")

local s = {
    magic = ProtoField.uint16("ringmaster_setpoint.magic", "Magic", base.HEX),
    version = ProtoField.uint8("ringmaster_setpoint.version", "Version"),
    flags = ProtoField.uint8("ringmaster_setpoint.flags", "Flags", base.HEX),
    query = ProtoField.bool("ringmaster_setpoint.query", "Query", 8, nil, 0x01),
    chain = ProtoField.uint16("ringmaster_setpoint.chain", "Chain"),
    count = ProtoField.uint16("ringmaster_setpoint.count", "Supplies"),
    turn = ProtoField.uint64("ringmaster_setpoint.turn", "Turn", base.DEC),
    term = ProtoField.uint16("ringmaster_setpoint.term", "Term"),
    instance = ProtoField.uint32("ringmaster_setpoint.instance", "Instance", base.HEX_DEC),
    sequence = ProtoField.uint64("ringmaster_setpoint.sequence", "Sequence", base.DEC),
    value = ProtoField.float("ringmaster_setpoint.value", "Setpoint"),
}
setpoint.fields = {
    s.magic, s.version, s.flags, s.query, s.chain, s.count, s.turn, s.term, s.instance, s.sequence, s.value,
}

function setpoint.dissector(buffer, packet, tree)
    local length = buffer:len()
    if length < 36 or length > 192 or buffer(0, 3):le_uint() ~= 0x025352 then
        return 0 -- not ours, or another version
    end
    local flags, chain, count = buffer(3, 1):uint(), buffer(4, 2):le_uint(), buffer(6, 2):le_uint()
    local term, zero, instance = buffer(16, 2):le_uint(), buffer(18, 2):le_uint(), buffer(20, 4):le_uint()
    if flags > 1 or count < 1 or count > 40 or length ~= 32 + 4 * count or zero ~= 0 or instance == 0 or
        (flags == 0 and term == 0) then
        return 0 -- a chain refuses it
    end
    packet.cols.protocol = "RINGMASTER"
    packet.cols.info = string.format("%s chain %d turn %s term %d sequence %s", flags == 1 and "query" or "setpoints",
        chain, tostring(buffer(8, 8):le_uint64()), term, tostring(buffer(24, 8):le_uint64()))
    local branch = tree:add(setpoint, buffer())
    branch:add_le(s.magic, buffer(0, 2))
    branch:add_le(s.version, buffer(2, 1))
    branch:add_le(s.flags, buffer(3, 1)):add(s.query, buffer(3, 1))
    branch:add_le(s.chain, buffer(4, 2))
    branch:add_le(s.count, buffer(6, 2))
    branch:add_le(s.turn, buffer(8, 8))
    branch:add_le(s.term, buffer(16, 2))
    branch:add_le(s.instance, buffer(20, 4))
    branch:add_le(s.sequence, buffer(24, 8))
    for offset = 32, length - 4, 4 do
        branch:add_le(s.value, buffer(offset, 4))
    end
    return length
end

-- A chain answers from its port of setpoints to the server's, so both kinds may be seen on either.
local function either(buffer, packet, tree)
    local taken = setpoint.dissector(buffer, packet, tree)
    return taken > 0 and taken or ringmaster.dissector(buffer, packet, tree)
end

local port = Proto("ringmaster_chain", "Ringmaster power-supply chain")
function port.dissector(buffer, packet, tree)
    return either(buffer, packet, tree)
end
DissectorTable.get("udp.port"):add(4662, port)
