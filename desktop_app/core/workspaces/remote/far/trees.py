"""Whole directories as a stream of tar, and the digests that prove that they came over whole."""

# pyright: basic

from __future__ import annotations

import hashlib
import io
import os
import stat as st
import tarfile

from .base import Refused

PIECE = 1 << 18
BATCH = 500


class Out(io.RawIOBase):
    """A file to write to whose bytes become parts of the answer."""

    def __init__(self, call):
        self.call = call

    def writable(self):
        return True

    def write(self, data):
        self.call.part(None, bytes(data))
        return len(data)


class In(io.RawIOBase):
    """A file to read from that is fed by the pieces of a request."""

    def __init__(self, call):
        self.pieces, self.rest = call.pieces(), b""

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self.rest:
            self.rest = next(self.pieces, b"")
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size


def op_pack(call):
    """The tree at a path, its name first; what is neither file, directory nor link is left out."""
    path = call.path()
    os.lstat(path)
    out = io.BufferedWriter(Out(call), PIECE)
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        tar.add(path, arcname=os.path.basename(path.rstrip("/")) or ".", filter=plain)
    out.flush()


def plain(entry):
    return entry if entry.isreg() or entry.isdir() or entry.issym() or entry.islnk() else None


def op_unpack(call):
    """A tree into a directory. It comes from the program, which made it."""
    path = call.path()
    os.makedirs(path, exist_ok=True)
    with tarfile.open(fileobj=io.BufferedReader(In(call), PIECE), mode="r|") as tar:
        for entry in tar:
            if os.path.isabs(entry.name) or ".." in entry.name.split("/"):
                raise Refused("file.bad_name", path=entry.name)
            entry.uid, entry.gid, entry.uname, entry.gname = os.getuid(), os.getgid(), "", ""
            tar.extract(entry, path, set_attrs=not entry.issym())


def op_digests(call):
    """``[path below, size, SHA-256]`` of every regular file below a path, in parts."""
    top, batch = call.path(), []
    os.lstat(top)
    for folder, names, files in os.walk(top):
        names.sort()
        for name in sorted(files):
            whole = os.path.join(folder, name)
            if not st.S_ISREG(os.lstat(whole).st_mode):
                continue
            digest, size = hashlib.sha256(), 0
            with open(whole, "rb", buffering=0) as file:
                while True:
                    data = file.read(PIECE)
                    if not data:
                        break
                    digest.update(data)
                    size += len(data)
            batch.append([os.path.relpath(whole, top), size, digest.hexdigest()])
            if len(batch) >= BATCH:
                call.part(batch)
                batch = []
    if batch:
        call.part(batch)
