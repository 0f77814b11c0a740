"""Whole directories as a stream of tar, and the digests that prove that they came over whole."""

# pyright: basic

from __future__ import annotations

import hashlib
import io
import os
import tarfile

from .base import Refused

PIECE = 1 << 18
SMALL = 1 << 14  # the first read of a file: making room for a whole piece costs more than a file
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
    for whole in regular(top):
        batch.append([whole[len(top) + 1 :], *digest_of(whole)])
        if len(batch) >= BATCH:
            call.part(batch)
            batch = []
    if batch:
        call.part(batch)


def regular(top):
    """Every regular file below a directory; links are not followed."""
    folders = [top]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path


def digest_of(path):
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        digest, size, most = hashlib.sha256(), 0, SMALL
        while True:
            data = os.read(fd, most)
            digest.update(data)
            size += len(data)
            if len(data) < most:  # of a regular file: its end
                return size, digest.hexdigest()
            most = PIECE
    finally:
        os.close(fd)
