-- SPDX-License-Identifier: Apache-2.0
-- Shows Ringmaster's native datagrams (docs/native-format.md) in Wireshark and tshark:
--     tshark -X lua_script:ringmaster.lua -O ringmaster -r native.pcap
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
