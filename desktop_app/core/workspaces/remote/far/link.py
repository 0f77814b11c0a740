"""Frames in and out of the far end, and the requests that are being worked on."""

# pyright: basic

from __future__ import annotations

import base64
import json
import os
import queue
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from . import files, processes, requests, trees
from .base import Gone, Refused, refusal

WINDOW = 1 << 20
ROOMS = (files, processes, requests, trees)
PATIENT = ("run", "write", "read", "look", "scandir", "http", "pack", "unpack", "digests")
QUIET = 60.0


class Call:
    """One request while it is worked on."""

    def __init__(self, link, head, body):
        self.link, self.head, self.body = link, head, body
        self.inbox = queue.Queue()
        self.cancelled = threading.Event()
        self.free = threading.Condition()
        self.out = 0
        self.at_cancel = None  # wakes an operation that waits for something of its own

    def path(self):
        path = self.head["path"]
        if "\0" in path:
            raise Refused("file.bad_name", path=path)
        return path

    def pieces(self):
        while True:
            piece = self.inbox.get()
            if piece is None:
                raise Gone
            if not piece:
                return
            yield piece
            self.link.send({"id": self.head["id"], "took": len(piece)})

    def room(self, seconds):
        with self.free:
            if self.out >= WINDOW:
                self.free.wait(seconds)
            return self.out < WINDOW or self.cancelled.is_set()

    def part(self, what, data=b""):
        while not self.room(1.0):
            pass
        if self.cancelled.is_set():
            raise Gone
        with self.free:
            self.out += len(data)
        self.link.send({"id": self.head["id"], "part": what}, data)

    def take(self, head, body):
        if head["op"] == "data":
            self.inbox.put(body)
        elif head["op"] == "ack":
            with self.free:
                self.out -= head["bytes"]
                self.free.notify_all()
        elif head["op"] == "cancel":
            self.cancelled.set()
            self.inbox.put(None)
            if self.at_cancel is not None:
                self.at_cancel()
            with self.free:
                self.free.notify_all()

    def work(self):
        answer = {"id": self.head["id"]}
        try:
            name = "op_" + self.head["op"]
            work = next(found for m in ROOMS if (found := getattr(m, name, None)) is not None)
            answer["end"] = work(self)
        except Gone:
            answer["error"] = ["cancelled", {}, False]
        except Exception as error:  # noqa: BLE001 - told to the other side
            told = refusal(error, self.head.get("path", ""))
            answer["error"] = [told.code, told.params, told.retryable]
        self.link.done(self.head["id"])
        self.link.send(answer)


class Link:
    """Frames in and out."""

    def __init__(self, text):
        self.text = text
        self.source = os.fdopen(os.dup(0), "rb", buffering=1 << 20)
        self.sink = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):  # nothing that prints or reads can disturb the frames
            os.dup2(null, fd)
        os.set_inheritable(self.sink, False)
        self.writing = threading.Lock()
        self.calls = {}
        self.heard = time.monotonic()
        self.pool = ThreadPoolExecutor(8)

    def send(self, head, body=b""):
        raw = json.dumps(head).encode()
        frame = struct.pack("!II", len(raw), len(body)) + raw + bytes(body)
        if self.text:
            frame = base64.b64encode(frame) + b"\n"
        with self.writing:
            files.write_all(self.sink, frame)

    def receive(self):
        """The next frame, or None at the end."""
        if self.text:
            line = self.source.readline()
            if not line.endswith(b"\n"):
                return None
            frame = base64.b64decode(line)
            split, _ = struct.unpack("!II", frame[:8])
            return json.loads(frame[8 : 8 + split].decode()), frame[8 + split :]
        start = self.source.read(8)
        if len(start) < 8:
            return None
        split, rest = struct.unpack("!II", start)
        raw, body = self.source.read(split), self.source.read(rest)
        return None if len(raw) < split or len(body) < rest else (json.loads(raw.decode()), body)

    def done(self, number):
        self.calls.pop(number, None)

    def serve(self):
        threading.Thread(target=self.watch, daemon=True).start()
        while True:
            frame = self.receive()
            self.heard = time.monotonic()
            if frame is None:
                return
            head, body = frame
            number, op = head.get("id"), head["op"]
            if op == "bye":
                return
            if op == "ping":
                self.send({"id": number, "end": None})
                continue
            call = self.calls.get(number)  # its thread may end it at any moment
            if call is not None:
                call.take(head, body)
            elif op not in ("data", "ack", "cancel"):
                call = self.calls[number] = Call(self, head, body)
                if op in PATIENT:  # may wait for the other side
                    threading.Thread(target=call.work, daemon=True).start()
                else:
                    self.pool.submit(call.work)

    def watch(self):
        while time.monotonic() - self.heard < QUIET:
            time.sleep(QUIET / 4)
        end()


def end():
    """Leave no process behind."""
    processes.kill_everything()
    os._exit(0)


def main():
    link = Link(len(sys.argv) > 1 and sys.argv[1] == "text")
    link.send({"hello": 1, "pid": os.getpid(), "uid": os.getuid(), "python": sys.version_info[:2]})
    try:
        link.serve()
    finally:
        end()
