"""An Ethernet hub with delay and loss, for machines whose kernel has no netem.

    slow-switch.py DELAY_MS LOSS_PERCENT SEED INTERFACE...

Every frame that comes in at one interface leaves, if it is not lost, by all others DELAY_MS later. It runs in the
namespace that holds the interfaces and prints "ready" once it forwards. Offloading is switched off at both ends of a link
by whoever makes the link: frames must arrive as they would on a wire.
"""

import heapq
import random
import select
import socket
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4


def main() -> None:
    delay = float(sys.argv[1]) / 1000
    loss = float(sys.argv[2]) / 100
    dice = random.Random(int(sys.argv[3]))
    ports = []
    for interface in sys.argv[4:]:
        port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024 * 1024)
        port.bind((interface, 0))
        port.setblocking(False)
        ports.append(port)
    waiting = []
    count = 0
    print("ready", flush=True)
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select(ports, [], [], timeout)
        now = time.monotonic()
        for port in readable:
            for _ in range(256):
                try:
                    frame, address = port.recvfrom(65536)
                except BlockingIOError:
                    break
                if address[2] == PACKET_OUTGOING or dice.random() < loss:
                    continue
                count += 1
                heapq.heappush(waiting, (now + delay, count, port, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, source, frame = heapq.heappop(waiting)
            for port in ports:
                if port is not source:
                    try:
                        port.send(frame)
                    except OSError:
                        pass  # a full queue, or a frame too long for a wire: lost


main()
