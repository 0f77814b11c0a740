"""Files of the far end. What is done and refused is what ``local_files`` and ``local_write`` do."""

# pyright: basic

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat as st
import time

from .base import Refused

PIECE = 1 << 18
BATCH = 256
LOCK_SECONDS = 10.0
FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def kind_of(mode):
    for test, name in ((st.S_ISREG, "file"), (st.S_ISDIR, "dir"), (st.S_ISLNK, "link")):
        if test(mode):
            return name
    return "special"


def version_of(r):
    return f"{r.st_mtime_ns:x}-{r.st_size:x}-{r.st_ino:x}"


def info(path, r, target=None):
    name = os.path.basename(path)
    mode = st.S_IMODE(r.st_mode)
    return [path, name, kind_of(r.st_mode), r.st_size, r.st_mtime_ns, mode, version_of(r), target]


def target_of(path):
    real = os.path.realpath(path)
    return real if os.path.lexists(real) and not os.path.islink(real) else None


def op_stat(call):
    path = call.path()
    r, target = os.lstat(path), None
    if st.S_ISLNK(r.st_mode):
        target = target_of(path)
        if call.head["follow"]:
            r = os.stat(path)
    return info(path, r, target)


def op_stat_many(call):
    found = []
    for path in call.head["paths"]:
        try:
            found.append(info(path, os.stat(path)))
        except (OSError, ValueError):
            found.append(None)
    return found


def op_access(call):
    path = call.path()
    listed = os.X_OK if st.S_ISDIR(os.stat(path).st_mode) else 0
    return [os.access(path, os.R_OK | listed), os.access(path, os.W_OK | listed)]


def op_scandir(call):
    batch = []
    with os.scandir(call.path()) as entries:
        for entry in entries:
            try:
                r = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone since it was listed
                continue
            batch.append(info(entry.path, r, target_of(entry.path) if entry.is_symlink() else None))
            if len(batch) >= BATCH:
                call.part(batch)
                batch = []
    if batch:
        call.part(batch)


def refuse_unless_file(r, path):
    kind = kind_of(r.st_mode)
    if kind != "file":
        raise Refused("file.is_dir" if kind == "dir" else "file.special", path=path)


def open_regular(path, flags=os.O_RDONLY):
    """Never opens a FIFO, device or socket: the kind is looked up before and on the descriptor."""
    try:
        refuse_unless_file(os.stat(path), path)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    fd = os.open(path, flags | FLAGS, 0o666)
    try:
        refuse_unless_file(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def op_read(call):
    left, limit = call.head.get("length"), call.head.get("limit")
    path, got = call.path(), 0
    fd = open_regular(path)
    try:
        size = os.fstat(fd).st_size
        if limit is not None and size > limit:
            raise Refused("file.too_large", path=path, size=size, limit=limit)
        os.lseek(fd, call.head.get("offset", 0), os.SEEK_SET)
        while left is None or left > 0:
            data = os.read(fd, PIECE if left is None else min(PIECE, left))
            if not data:
                break
            got += len(data)
            if limit is not None and got > limit:
                raise Refused("file.too_large", path=path, size=got, limit=limit)
            if left is not None:
                left -= len(data)
            call.part(None, data)
    finally:
        os.close(fd)


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def sync_dir(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def lock(fd, path):
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except (BlockingIOError, PermissionError):
            if time.monotonic() > deadline:
                raise Refused("file.busy", True, path=path) from None
            time.sleep(0.005)


class Replacement:
    """One file replaced whole: a temporary file beside it, synced, renamed."""

    def __init__(self, call):
        self.path, self.expect = call.path(), call.head.get("expect")
        self.create, mode = call.head.get("create"), call.head.get("mode")
        if self.create and os.path.lexists(self.path):
            raise Refused("file.exists", path=self.path)
        linked = os.path.islink(self.path)
        self.dest = os.path.realpath(self.path) if linked else self.path
        old = self.check()
        self.parent = os.path.dirname(self.dest)
        os.makedirs(self.parent, exist_ok=True)
        self.temp = os.path.join(self.parent, f".slipway-{secrets.token_hex(8)}.tmp")
        if mode is None and old is not None:
            mode = st.S_IMODE(old.st_mode)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS
        self.fd = os.open(self.temp, flags, 0o666 if mode is None else 0o600)
        if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            try:
                os.fchown(self.fd, old.st_uid, old.st_gid)
            except PermissionError:
                pass
        if mode is not None:
            os.fchmod(self.fd, mode)

    def check(self):
        try:
            old = os.stat(self.dest)
        except FileNotFoundError:
            old = None
        if old is not None:
            refuse_unless_file(old, self.path)
        if self.expect is not None and (old is None or version_of(old) != self.expect):
            raise Refused("file.changed", path=self.path)
        return old

    def commit(self):
        os.fsync(self.fd)
        os.close(self.fd)
        self.fd = -1
        held = os.open(self.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:  # nobody else of ours comes between the last look and the rename
            lock(held, self.path)
            self.check()
            if self.create:
                self.place_new()
            else:
                os.replace(self.temp, self.dest)
        finally:
            os.close(held)
        self.temp = ""
        sync_dir(self.parent)
        return info(self.path, os.stat(self.dest))

    def place_new(self):
        """Give the file its name unless somebody took it meanwhile; linking is the atomic way."""
        try:
            os.link(self.temp, self.dest)
        except PermissionError:  # no hard links on this file system
            if os.path.lexists(self.dest):
                raise Refused("file.exists", path=self.path) from None
            os.rename(self.temp, self.dest)
        else:
            os.unlink(self.temp)

    def abort(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        if self.temp:
            try:
                os.unlink(self.temp)
            except OSError:
                pass


def op_write(call):
    job = Replacement(call)
    try:
        if call.head.get("whole"):
            write_all(job.fd, call.body)
        else:
            for piece in call.pieces():
                write_all(job.fd, piece)
        return job.commit()
    finally:
        job.abort()


def op_append(call):
    path, data = call.path(), call.body
    if call.head["plain"]:
        return append_plain(path, data)
    fresh = not os.path.lexists(path)
    fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        lock(fd, path)
        size = os.fstat(fd).st_size
        if size and data:
            os.lseek(fd, size - 1, os.SEEK_SET)
            if os.read(fd, 1) != b"\n":
                data = b"\n" + data
        try:
            write_all(fd, data)
            os.fsync(fd)
        except OSError:  # half a line on a full disk is taken back
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)
    if fresh:
        sync_dir(os.path.dirname(path))
    return size


def append_plain(path, data):
    fd = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(fd).st_size
        write_all(fd, data)
    finally:
        os.close(fd)
    return size


def op_mkdir(call):
    os.makedirs(call.path(), exist_ok=True)


def op_rename(call):
    old, new = call.path(), call.head["to"]
    taken = not call.head["replace"] and os.path.lexists(new)
    if taken and (old == new or not os.path.samestat(os.lstat(old), os.lstat(new))):
        raise Refused("file.exists", path=new)
    os.replace(old, new)
    sync_dir(os.path.dirname(new))


def op_remove(call):
    path = call.path()
    if not st.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
    elif call.head["recursive"]:
        shutil.rmtree(path)
    else:
        raise Refused("file.is_dir", path=path)


def op_realpath(call):
    return os.path.realpath(call.path())


def real_of(path):
    if "\0" in path:
        raise Refused("file.bad_name", path=path)
    return os.path.realpath(path)


def op_realpaths(call):
    return [real_of(path) for path in call.head["paths"]]


def op_look(call):
    """The file in parts, then what is known of it: its stat, whether this is all, other paths."""
    real, whole, got = real_of(call.path()), call.head["whole"], 0
    beside = [real_of(path) for path in call.head["beside"]]
    fd = open_regular(real)
    try:
        r = os.fstat(fd)
        most = whole + 1 if r.st_size <= whole else call.head["head"]
        while got < most and (data := os.read(fd, min(PIECE, most - got))):
            got += len(data)
            call.part(None, data)
    finally:
        os.close(fd)
    return [info(real, r), r.st_size <= whole and got <= whole, beside]
