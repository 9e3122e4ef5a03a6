"""Listening socket of a page: at the wanted port, or the next free one."""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
import sys

from pkmncli.errors import ConfigurationError

TRIED_PORTS = 100
LOOPBACK = "127.0.0.1"

_TAKEN = {errno.EADDRINUSE, errno.EACCES}


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket at ``port``, or at the next free port after it.

    Raises:
        ConfigurationError: no port from there on is free, or this machine has no such address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port, min(port + TRIED_PORTS, 65536)):
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":  # there it would share the port with another program
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, number))
            found.listen(128)
        except OSError as error:
            found.close()
            if error.errno not in _TAKEN:
                raise ConfigurationError(
                    f"--host {host}: this machine has no such address ({error.strerror})"
                ) from None
        else:
            return found
    raise ConfigurationError(f"no port from {port} to {number} is free: give another --web-port")


def checked_name(name: str) -> str:
    """Return a host name under which a proxy may show the page, normalised.

    Raises:
        ConfigurationError: it is not a host name, but for example an address with a scheme or a port, or a pattern.
    """
    if not re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", name) or len(name) > 253:
        raise ConfigurationError(f"--web-host-name {name}: is no host name: write the name alone, as page.example.org")
    return name.lower()


def checked_folder(path: str) -> str:
    """Return the folder under which a proxy may show the page, without a slash at its end.

    Raises:
        ConfigurationError: it is not a plain path from the top, but for example a whole address.
    """
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*/?", path) or len(path) > 500:
        raise ConfigurationError(f"--web-root-path {path}: is no folder of an address: write it as /user/me/page")
    return path.rstrip("/")


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address(listening: socket.socket, folder: str = "") -> str:
    """Return the address to open in a browser, of a page in a folder such as ``/user/me/page``."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    return f"http://[{host}]:{port}{folder}/" if ":" in host else f"http://{host}:{port}{folder}/"
