"""Switches checksum and segmentation offloading of interfaces off, so that what they send could stand on a wire.

    offload.py INTERFACE...
"""

import array
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
# ETHTOOL_SRXCSUM, STXCSUM, SSG, STSO, SGSO, SGRO
COMMANDS = (0x15, 0x17, 0x19, 0x1F, 0x24, 0x2C)

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    for interface in sys.argv[1:]:
        for command in COMMANDS:
            value = array.array("B", struct.pack("II", command, 0))
            address, _ = value.buffer_info()
            request = struct.pack("16sP16x", interface.encode(), address)
            try:
                fcntl.ioctl(control, SIOCETHTOOL, request)
            except OSError:
                pass  # this kind of interface has no such offloading
