"""Echo requests to a host: ping.py HOST COUNT. Prints how many answers came, and the milliseconds of the fastest."""

import json
import select
import socket
import struct
import sys
import time

ECHO_REQUEST = 8
ECHO_REPLY = 0
IP_HEADER = 20
IDENTIFIER = 7
PAUSE = 0.005
PATIENCE = 3


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def request(sequence: int) -> bytes:
    head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, IDENTIFIER, sequence)
    return struct.pack("!BBHHH", ECHO_REQUEST, 0, checksum(head), IDENTIFIER, sequence)


def main() -> None:
    host, count = sys.argv[1], int(sys.argv[2])
    icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    sent: dict[int, float] = {}
    times: dict[int, float] = {}
    end = time.monotonic() + count * PAUSE + PATIENCE
    while time.monotonic() < end and len(times) < count:
        if len(sent) < count:
            sent[len(sent)] = time.monotonic()
            icmp.sendto(request(len(sent) - 1), (host, 0))
        while select.select([icmp], [], [], PAUSE)[0]:
            packet = icmp.recv(1500)[IP_HEADER:]
            kind, _, _, identifier, sequence = struct.unpack("!BBHHH", packet[:8])
            if kind == ECHO_REPLY and identifier == IDENTIFIER and sequence in sent:
                times.setdefault(sequence, time.monotonic() - sent[sequence])
    print(json.dumps({"received": len(times), "fastest": 1000 * min(times.values(), default=float(PATIENCE))}))


main()
