"""The far end of ``RemoteBackend``: files and processes of the container or sandbox it runs in.

Standard library only, Python 3.8 or newer, POSIX. The program does not import it: ``bundle`` sends
it as text, started as ``python3 -I -c`` in ``/``, so that neither the workspace's files nor its
environment can take it over (a ``json.py`` in the working directory is not seen).

Frames, both ways: ``!II`` (length of head, length of body), head in JSON, body in bytes. A request
has ``id`` and ``op``; answers carry the ``id`` with ``end`` (result), ``part`` (a piece, its bytes
in the body), ``took`` (a piece of input was used) or ``error`` (code, params, retryable). While one
is worked on, further requests with the same id are ``data`` (a piece of input; an empty one ends
it), ``ack`` (bytes of parts that were taken: at most ``WINDOW`` are under way) and ``cancel``. With
``text`` as argument a frame is one line of base64, for channels that carry only text. Silence of
``QUIET`` seconds means that the other side is gone: every process is ended, and so is this one.
"""
