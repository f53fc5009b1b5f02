"""Looks for a value below a git directory by means of its own: every loose object, every entry of
every pack and every other file, decompressed. Prints where it is; the value comes from standard input.
"""

import base64
import os
import sys
import urllib.parse
import zlib


def forms(value):
    """All forms in which the value may stand, as far as this script knows any."""
    found = {value, value.hex().encode(), value.hex().upper().encode()}
    found.add(urllib.parse.quote(value, safe="").encode())
    found.add(value.replace(b"\\", b"\\\\").replace(b'"', b'\\"'))
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + value)
        # Without the characters that neighbours share.
        found.add(text[(offset * 8 + 5) // 6 : (offset + len(value)) * 8 // 6])
    return found


def inflated(data):
    """Every zlib stream that begins at the beginning of the data."""
    try:
        return zlib.decompressobj().decompress(data)
    except zlib.error:
        return b""


def entries_of_pack(data):
    """Every stream of a pack, deltas as they stand."""
    count = int.from_bytes(data[8:12], "big")
    at = 12
    for _ in range(count):
        byte = data[at]
        at += 1
        kind = byte >> 4 & 7
        while byte & 0x80:
            byte = data[at]
            at += 1
        if kind == 6:
            while data[at] & 0x80:
                at += 1
            at += 1
        elif kind == 7:
            at += 20
        stream = zlib.decompressobj()
        yield stream.decompress(data[at:])
        at = len(data) - len(stream.unused_data)


def blocks(data):
    """Every zlib stream that begins anywhere in the data: records of sessions are packed like that."""
    at = data.find(b"\x78")
    while at >= 0:
        if len(data) > at + 1 and (data[at] * 256 + data[at + 1]) % 31 == 0:
            yield inflated(data[at:])
        at = data.find(b"\x78", at + 1)


def main():
    wanted = forms(sys.stdin.buffer.read())
    found = []
    for folder, _, files in os.walk(sys.argv[1]):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = file.read()
            parts = [data, inflated(data)]
            if name.endswith(".pack"):
                parts += entries_of_pack(data)
            parts += [inner for part in list(parts) for inner in blocks(part)]
            if any(form in part for part in parts for form in wanted):
                found.append(os.path.relpath(path, sys.argv[1]))
    print("\n".join(sorted(found)), end="")


main()
