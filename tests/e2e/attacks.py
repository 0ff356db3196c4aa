"""What attackers send, by the door that it is for."""

import os
import struct

import client

LOG_LIMIT = 200_000  # bytes; no attack may make the log longer

# Dynolog's RPC.

REQUEST_SECONDS = 5  # what the agent gives a whole request


def framed(body):
    return struct.pack("<i", len(body)) + body


STATUS = framed(b'{"fn":"getStatus"}')

NESTED = 75_000
DEEP = {
    "arrays": b'{"fn":"nosuch","a":' + b"[" * NESTED + b"]" * NESTED + b"}",
    "arrays alone": b"[" * NESTED + b"]" * NESTED,
    "objects": b'{"a":' * NESTED + b"1" + b"}" * NESTED,
    "arrays without end": b"[" * 500_000,
    "33 levels": b'{"fn":"getStatus","a":' + b"[" * 33 + b"]" * 33 + b"}",
}

GARBAGE = {
    "blank": b" ",
    "word": b"nope",
    "cut short": b'{"fn":"getStat',
    "null": b"null",
    "number": b"1e999999",
    "array": b"[]",
    "text": b'"getStatus"',
    "empty object": b"{}",
    "fn a number": b'{"fn":1}',
    "fn null": b'{"fn":null}',
    "fn an object": b'{"fn":{"fn":"getStatus"}}',
    "fn unknown": b'{"fn":"noSuchFunction"}',
    "fn of 100 kB": b'{"fn":"' + b"x" * 100_000 + b'"}',
    "two values": b'{"fn":"getStatus"}{"fn":"getStatus"}',
    "comma at the end": b'{"fn":"getStatus",}',
    "bad UTF-8": b'{"fn":"\xff\xfe\xc0\x80"}',
    "lone surrogate": b'{"fn":"\\ud800"}',
    "NUL bytes": b"\0" * 1000,
    "binary": bytes(range(256)) * 16,
    "control characters": b'{"fn":"\x1b[31m\r\n"}',
    "pause, duration a text": b'{"fn":"dcgmProfPause","duration_s":"abc"}',
    "pause, duration an object": b'{"fn":"dcgmProfPause","duration_s":{}}',
    "pause, no duration": b'{"fn":"dcgmProfPause"}',
    "trace, nothing": b'{"fn":"setKinetOnDemandRequest"}',
    "trace, config a number": b'{"fn":"setKinetOnDemandRequest","config":1,"pids":[0]}',
    "trace, pids a text": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":"0"}',
    "trace, pids of texts": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":["a",null]}',
    "trace, job a text": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":[0],"job_id":"7"}',
    "trace, limit a text": b'{"fn":"setKinetOnDemandRequest","config":"X=1","pids":[0],"process_limit":"7"}',
}

# The IPC.

HUGE = 1 << 60


def raw_poll(n, pids=(4242,), kind=3):
    return client.datagram(b"req", struct.pack(f"<iiq{len(pids)}i", kind, n, 0, *pids))


DATAGRAMS = {
    "zero length": b"",
    "one byte": b"\0",
    "three bytes": b"abc",
    "39 bytes": client.datagram(b"req", b"")[:39],
    "size 2^60": client.datagram(b"req", b"x" * 20, size=HUGE),
    "size 2^62": client.datagram(b"ctxt", b"x" * 16, size=1 << 62),
    "size 2^64-1": client.datagram(b"req", b"", size=2 ** 64 - 1),
    "size 2^64-40": client.datagram(b"req", b"x" * 20, size=2 ** 64 - 40),
    "size 2 GiB, garbage": client.datagram(b"req", b"\x7b" * 64, size=1 << 31),
    "size too small": client.datagram(b"req", raw_poll(1)[40:], size=3),
    "size too large": client.datagram(b"req", raw_poll(1)[40:], size=21),
    "n = -1": raw_poll(-1),
    "n = smallest": raw_poll(-0x80000000),
    "n = 100000000": raw_poll(100_000_000),
    "n = 2^30, which times 4 is 0": raw_poll(1 << 30),
    "n = 5000 with one pid": raw_poll(5000),
    "n = 5000": raw_poll(5000, [1] * 5000),
    "n = 1 with 3 pids": raw_poll(1, [1, 2, 3]),
    "empty req": client.datagram(b"req", b""),
    "empty ctxt": client.datagram(b"ctxt", b""),
    "ctxt of 15 bytes": client.datagram(b"ctxt", b"x" * 15),
    "ctxt of 4000 bytes": client.datagram(b"ctxt", b"x" * 4000),
    "unknown tag": client.datagram(b"data", b"x" * 20),
    "unterminated tag": client.datagram(b"r" * 32, b"x" * 20),
    "prefix of a tag": client.datagram(b"reqXYZ", raw_poll(1)[40:]),
    "no tag": client.datagram(b"", b""),
    "100 kB": client.datagram(b"req", os.urandom(100_000)),
}

# HTTP.

GET = b"GET /v1/status HTTP/1.1\r\nHost: x\r\n"
HTTP_GARBAGE = {
    "a word": b"hello\r\n\r\n",
    "binary": bytes(range(256)) * 64 + b"\r\n\r\n",
    "NUL bytes": b"\0" * 10_000 + b"\r\n\r\n",
    "no version": b"GET /v1/status\r\n\r\n",
    "version 9": b"GET /v1/status HTTP/9.9\r\nHost: x\r\n\r\n",
    "no method": b" /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
    "other method": b"DELETE /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT": b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "unknown path": b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
    "path upwards": b"GET /v1/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "path with NUL": b"GET /v1/captures/%00%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "path with bad escapes": b"GET /v1/captures/%zz%1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "path of 1 MB": b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "header of 1 MB": GET + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "100,000 headers": GET + b"X: 1\r\n" * 100_000 + b"\r\n",
    "header without colon": GET + b"nothing\r\n\r\n",
    "length -1": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}",
    "length a word": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n{}",
    "length 10^18": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000000000\r\n\r\n{}",
    "length 10^30": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 1" + b"0" * 30 + b"\r\n\r\n{}",
    "two lengths": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
    "no length": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\n\r\n",
    "bad chunks": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n0\r\n\r\n",
    "body of 10 MB": b"POST /v1/captures HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n" + b" " * 10_000_000,
    "query of odd numbers": b"GET /v1/captures/x?wait_ms=-1&seen=99999999999999999999 HTTP/1.1\r\nHost: x\r\n\r\n",
}
