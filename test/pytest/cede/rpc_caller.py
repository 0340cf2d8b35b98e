"""A peer that speaks ONC RPC by hand: one call at a time, in the clear or inside TLS, with any certificate."""
import os
import socket
import ssl
import struct

IFL, EXEC, SIS = range(0x20000050, 0x20000053)  # programs, each in version 1
AUTH_TLS = 7  # the flavour of the call that asks for TLS, RFC 9289
LIMIT_S = 60
LAST = 0x80000000  # of a fragment: it ends the record


def _read(where, n):
    got = b""
    while len(got) < n:
        piece = where.recv(n - len(got))
        assert piece, "closed"
        got += piece
    return got


def call(where, prog, proc, args=b"", flavour=0):
    """The reply as it came, from its xid on; results of an accepted call begin at byte 24."""
    record = struct.pack(">10I", 7, 0, 2, prog, 1, proc, flavour, 0, 0, 0) + args
    where.sendall(struct.pack(">I", LAST | len(record)) + record)
    length, = struct.unpack(">I", _read(where, 4))
    return _read(where, length & ~LAST)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)


def connect_tls(port, prog, certs, trusted="ca.crt", name=None):
    """A connection inside TLS; certs: a directory. name: whose certificate is shown there, None: none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(os.path.join(certs, trusted))
    if name:
        context.load_cert_chain(os.path.join(certs, name + ".crt"), os.path.join(certs, name + ".key"))
    context.set_alpn_protocols(["sunrpc"])
    plain = connect(port)
    assert b"STARTTLS" in call(plain, prog, 0, flavour=AUTH_TLS)
    return context.wrap_socket(plain)
