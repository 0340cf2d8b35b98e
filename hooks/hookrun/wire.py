"""Frames of doc/internals/hook-protocol.md: a length and JSON. A byte of PBS that is not UTF-8 is U+10FF00 + byte in a frame, and a surrogate
escape in Python, as os.fsdecode() has it, so that a script can use such a text as a file's name."""
from __future__ import annotations

import json
import re
import socket
import struct
from typing import Any, Optional

IN_MAX = 64 << 20
OUT_MAX = 16 << 20
_PRIVATE = 0x10FF00


class WireError(Exception):
    """The other end broke the protocol, or a frame would be too long."""


def _decode(text: str) -> str:
    return re.sub("[\U0010ff80-\U0010ffff]", lambda m: chr(0xDC00 + ord(m.group()) - _PRIVATE), text)


def _encode(text: str) -> str:
    text = re.sub("[\udc80-\udcff]", lambda m: chr(_PRIVATE + ord(m.group()) - 0xDC00), text)
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


class Wire:
    """One end of the conversation. Frames go out and come in one after another."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def send(self, message: dict[str, Any]) -> None:
        """Send a frame. WireError: longer than 16 MB, nothing was sent. OSError: the other end has gone."""
        body = _encode(json.dumps(message, ensure_ascii=False)).encode("utf-8")
        if len(body) > OUT_MAX:
            raise WireError(f"a frame of {len(body)} bytes is too long")
        self._sock.sendall(struct.pack(">I", len(body)) + body)

    def receive(self) -> Optional[dict[str, Any]]:
        """The next frame; None: the other end has closed the socket. WireError: it is not a frame."""
        head = self._read(4)
        if head is None:
            return None
        length = struct.unpack(">I", head)[0]
        if length > IN_MAX:
            raise WireError(f"a frame of {length} bytes is too long")
        body = self._read(length)
        if body is None:
            return None
        try:
            message = json.loads(_decode(body.decode("utf-8")))
        except ValueError as e:
            raise WireError(f"no JSON: {e}") from e
        if not isinstance(message, dict) or not isinstance(message.get("op"), str):
            raise WireError("a frame without op")
        return message

    def _read(self, length: int) -> Optional[bytes]:
        parts = []
        while length:
            part = self._sock.recv(min(length, 1 << 20))
            if not part:
                return None
            parts.append(part)
            length -= len(part)
        return b"".join(parts)
