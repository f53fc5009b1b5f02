"""Speaks TLS before a server of Temporal, as a proxy of a cluster does: it wants a certificate that its CA
has signed, and the key of whoever calls. Prints its port once it listens. Of a method that is named nobody
may make use.

tls_proxy.py UPSTREAM_PORT CA CERT CERT_KEY API_KEY [METHOD]
"""

import socket
import ssl
import sys
import threading

# The codes of HPACK (RFC 7541, appendix B) of the letters of which keys and methods of the tests are made.
CODES = {
    "0": "00000", "1": "00001", "2": "00010", "a": "00011", "c": "00100", "e": "00101",
    "i": "00110", "o": "00111", "s": "01000", "t": "01001", " ": "010100", "r": "101100",
    "B": "1011101", "S": "1101110", "U": "1110000", "W": "1110010", "E": "1100000",
    "d": "100100", "f": "100101", "k": "1110101", "l": "101000", "n": "101010", "p": "101011",
    "u": "101101", "w": "1111000", "x": "1111001",
}
PREFACE = 24
HEADER = 9
HEADERS = 1
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
UNAUTHENTICATED = b"16"
PERMISSION_DENIED = b"7"


def bits_of(text):
    return "".join(CODES[letter] for letter in text)


def coded(text):
    bits = bits_of(text)
    bits += "1" * (-len(bits) % 8)
    return bytes(int(bits[at:at + 8], 2) for at in range(0, len(bits), 8))


def literal(name, value):
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value


def refusal(stream, status):
    block = b"\x88" + literal(b"content-type", b"application/grpc") + literal(b"grpc-status", status)
    return len(block).to_bytes(3, "big") + bytes([HEADERS, 5]) + stream + block


def exactly(connection, wanted):
    found = b""
    while len(found) < wanted:
        more = connection.recv(wanted - len(found))
        if not more:
            raise OSError("closed")
        found += more
    return found


def frame_of(source):
    head = exactly(source, HEADER)
    return head, exactly(source, int.from_bytes(head[:3], "big"))


def calls(body, method):
    return method and bits_of(method) in "".join(f"{byte:08b}" for byte in body)


def pipe(source, target, method, lock):
    """Passes frames on; what calls the method is answered instead."""
    try:
        while True:
            head, body = frame_of(source)
            if head[3] == HEADERS and calls(body, method):
                with lock:
                    source.sendall(refusal(head[5:9], PERMISSION_DENIED))
                continue
            with lock:
                target.sendall(head + body)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(context, raw, upstream, key, method):
    try:
        client = context.wrap_socket(raw, server_side=True)
        begun = exactly(client, PREFACE)
        while True:
            head, body = frame_of(client)
            begun += head + body
            if head[3] == HEADERS:
                break
        if key not in begun:
            client.sendall(SETTINGS + refusal(head[5:9], UNAUTHENTICATED))
            while client.recv(65536):
                pass
            return
        server = socket.create_connection(("127.0.0.1", upstream))
        server.sendall(begun)
        lock = threading.Lock()
        threading.Thread(target=pipe, args=(server, client, None, lock), daemon=True).start()
        pipe(client, server, method, lock)
    except OSError:
        leave(raw)


def leave(raw):
    """Says nothing more, and reads to the end: so what was said before arrives."""
    try:
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(1)
        while raw.recv(65536):
            pass
    except OSError:
        pass
    raw.close()


def main():
    upstream, ca, cert, cert_key, key, *method = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, cert_key)
    context.load_verify_locations(ca)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        raw, _ = listener.accept()
        worker = (context, raw, int(upstream), coded("Bearer " + key), "".join(method))
        threading.Thread(target=serve, args=worker, daemon=True).start()


main()
