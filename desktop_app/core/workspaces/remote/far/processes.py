"""Processes of the far end: each leads a session of its own and is ended with its whole tree."""

# pyright: basic

from __future__ import annotations

import errno
import os
import secrets
import selectors
import signal
import subprocess
import threading
import time

from .base import Gone, Refused

TERM_SECONDS = 0.3
DRAIN_SECONDS = 2.0
MARK = "SLIPWAY_RUN"
OURS = secrets.token_hex(16)  # begins the mark of each process that was started here
NAMED = set()  # marks that the other side chose, of processes that run


def environ_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def marked(mark):
    """Living processes whose environment has a mark that begins so."""
    if not mark:
        return []
    want = f"{MARK}={mark}".encode()
    names = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    return [
        int(name)
        for name in names
        if any(entry.startswith(want) for entry in environ_of(name).split(b"\0"))
    ]


def signal_group(pid, number):
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def kill_tree(proc, mark):
    """Ask, then kill: the group, and strays that left it but carry our mark."""
    if proc.returncode is None:
        signal_group(proc.pid, signal.SIGTERM)
        deadline = time.monotonic() + TERM_SECONDS
        while time.monotonic() < deadline:  # not collected before the group got its last signal
            if os.waitid(os.P_PID, proc.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break
            time.sleep(0.005)
        signal_group(proc.pid, signal.SIGKILL)
    kill_marked(mark)
    try:
        proc.wait(DRAIN_SECONDS)
    except subprocess.TimeoutExpired:
        pass


def kill_marked(mark):
    """Kill them all; which they were."""
    ended = set()
    for _ in range(3):  # what forks while we kill is met in the next round
        strays = marked(mark)
        if not strays:
            break
        ended.update(strays)
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
    return ended


def kill_everything():
    for mark in (OURS, *NAMED):
        kill_marked(mark)


def op_end_marked(call):
    ended = set()
    for mark in call.head["marks"]:
        ended |= kill_marked(mark)
    return len(ended)


def spawn(call, mark):
    head = call.head
    cwd, argv = head["cwd"], head["argv"]
    if not os.path.isdir(cwd):
        raise Refused("file.not_dir" if os.path.lexists(cwd) else "file.missing", path=cwd)
    program = argv[0] if argv else ""
    env = dict(os.environ)
    env.update(head.get("env") or {})
    env[MARK] = mark
    has_input = bool(head.get("input"))
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (FileNotFoundError, IndexError):
        raise Refused("exec.missing", program=program) from None
    except PermissionError:
        raise Refused("exec.denied", program=program) from None
    except (OSError, ValueError, TypeError) as error:
        if getattr(error, "errno", None) == errno.E2BIG:
            raise Refused("exec.too_long", program=program) from None
        raise Refused("exec.failed", program=program, detail=str(error)) from None


def feed(call, proc):
    """What the process reads, from the pieces that come; in a thread of its own."""
    try:
        for piece in call.pieces():
            proc.stdin.write(piece)
    except (OSError, ValueError, Gone):
        pass
    finally:
        try:
            proc.stdin.close()
        except OSError:
            pass


def op_run(call):
    name = call.head.get("mark")
    mark = name or f"{OURS}.{secrets.token_hex(8)}"
    if name:
        NAMED.add(name)
    try:
        return run(call, mark)
    finally:
        NAMED.discard(name)


def run(call, mark):
    started = time.monotonic()
    proc = spawn(call, mark)
    timeout = call.head.get("timeout")
    if proc.stdin is not None:
        threading.Thread(target=feed, args=(call, proc), daemon=True).start()
    try:
        timed_out = pump(call, proc, None if timeout is None else started + timeout, mark)
    finally:
        if proc.poll() is None:
            kill_tree(proc, mark)
        for pipe in (proc.stdout, proc.stderr):
            if pipe is not None:
                pipe.close()
    code = -9 if proc.returncode is None else proc.returncode
    return [code, timed_out, time.monotonic() - started]


def pump(call, proc, deadline, mark):
    """Move output until the process ends and its pipes are empty; whether the timeout ended it."""
    killing = timed_out = False
    drain = None
    with selectors.DefaultSelector() as selector:
        for pipe, name in ((proc.stdout, "stdout"), (proc.stderr, "stderr")):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe.fileno(), selectors.EVENT_READ, name)
        while selector.get_map() or proc.poll() is None:
            now = time.monotonic()
            late = deadline is not None and now >= deadline
            if not killing and (call.cancelled.is_set() or late):
                killing, timed_out = True, late and not call.cancelled.is_set()
                kill_tree(proc, mark)
            if drain is None and (killing or proc.poll() is not None):
                drain = time.monotonic() + DRAIN_SECONDS
            if drain is not None and time.monotonic() >= drain:
                break
            if not call.room(0.02):  # the reader is behind: the process waits with us
                if drain is not None and not killing:
                    drain = time.monotonic() + DRAIN_SECONDS
                continue
            if not selector.get_map():
                time.sleep(0.002)
            for key, _ in selector.select(0.02):
                try:
                    data = os.read(key.fd, 1 << 16)
                except BlockingIOError:
                    continue
                if not data:
                    selector.unregister(key.fd)
                elif not call.cancelled.is_set():
                    call.part(key.data, data)
    return timed_out
