"""HTTP requests to a server on the far end's loopback, so that nothing has to listen outside."""

# pyright: basic

from __future__ import annotations

import http.client
import socket

from .base import Gone, Refused


def op_http(call):
    """Parts: ``[status, headers]``, then the body in pieces as they come."""
    head = call.head
    connection = http.client.HTTPConnection("127.0.0.1", head["port"], timeout=head.get("timeout"))
    try:
        connection.connect()
        call.at_cancel = lambda: shut(connection.sock)
        connection.request(head["method"], head["path"], call.body, head.get("headers") or {})
        answer = connection.getresponse()
        call.part([answer.status, dict(answer.getheaders())])
        while True:
            piece = answer.read1(1 << 16)
            if not piece:
                return
            call.part(None, piece)
    except Gone:
        raise
    except TimeoutError:
        raise Refused("http.timeout", True, port=head["port"]) from None
    except (OSError, http.client.HTTPException) as error:
        if call.cancelled.is_set():
            raise Gone from None
        raise Refused("http.failed", True, port=head["port"], detail=str(error)) from None
    finally:
        connection.close()


def shut(sock):
    """Wake whoever reads from it."""
    if sock is None:  # it ended at the same moment
        return
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
