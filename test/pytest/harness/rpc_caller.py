"""A peer that speaks ONC RPC by hand: one call at a time, in the clear or inside TLS, with any certificate."""
import _ssl
import ctypes
import os
import socket
import ssl
import struct

IFL, EXEC, SIS = range(0x20000050, 0x20000053)  # programs, each in version 1
AUTH_TLS = 7  # the flavour of the call that asks for TLS, RFC 9289
LIMIT_S = 120
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
    return receive(where)


def receive(where):
    """The next record, of one fragment."""
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


def binding(tls):
    """What TLS exports for a MUNGE credential of this connection. Python's ssl has no name for that call."""
    class Connection(ctypes.Structure):  # PySSLSocket of CPython
        _fields_ = [("head", ctypes.c_void_p * 2), ("socket", ctypes.c_void_p), ("ssl", ctypes.c_void_p)]
    label, out = b"EXPORTER-PBS-MUNGE", ctypes.create_string_buffer(32)
    openssl = ctypes.CDLL(_ssl.__file__)
    openssl.SSL_export_keying_material.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                                   ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                                   ctypes.c_size_t, ctypes.c_int]
    ssl_of = Connection.from_address(id(tls._sslobj)).ssl  # pylint: disable=protected-access
    done = openssl.SSL_export_keying_material(ssl_of, out, len(out), label, len(label), None, 0, 0)
    assert done == 1, "OpenSSL exports no key material"
    return out.raw
