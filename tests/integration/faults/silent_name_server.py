# SPDX-License-Identifier: Apache-2.0
"""A name server that takes queries and never answers."""
import os
import socket


class SilentNameServer:
    """On an address of the loopback network. A command that is started behind `wrapper` asks it alone; `folder` is where its resolv.conf goes."""

    def __init__(self, address, folder):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        resolv = os.path.join(folder, "resolv.conf")
        with open(resolv, "w", encoding="utf-8") as file:
            file.write(f"nameserver {address}\noptions timeout:30 attempts:5\n")
        self.wrapper = ["unshare", "-m", "sh", "-c", f'mount --bind "{resolv}" /etc/resolv.conf && exec "$@"', "sh"]

    def is_asked_within(self, seconds):
        self.socket.settimeout(seconds)
        try:
            self.socket.recvfrom(512)
            return True
        except TimeoutError:
            return False

    def close(self):
        self.socket.close()
