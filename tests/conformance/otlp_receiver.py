"""A receiver of OTLP metrics that behaves as it is told. Runs in a Python that has opentelemetry-proto.

usage: otlp_receiver.py PORT FOLDER. FOLDER/mode says how it answers (see MODES); each request becomes a line of
FOLDER/requests: {"mode", "path", "headers", "bytes", "points": [{"name", "unit", "kind", "attributes", "start", "time", "value",
"resource", "scope"}]}, written and synced before the answer. Prints "ready PORT".
"""

import gzip
import http.server
import json
import os
import pathlib
import sys
import threading
import time

from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as service

FOLDER = pathlib.Path(sys.argv[2])
LOCK = threading.Lock()


def attributes(pairs):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def points(request):
    for resource in request.resource_metrics:
        of_resource = attributes(resource.resource.attributes)
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                data = metric.WhichOneof("data")
                series = getattr(metric, data)
                kind = data
                if data == "sum":
                    assert series.aggregation_temporality == 2, "cumulative"
                    kind = "counter" if series.is_monotonic else "updown"
                for point in series.data_points:
                    yield {"name": metric.name, "unit": metric.unit, "kind": kind, "help": metric.description,
                           "attributes": attributes(point.attributes), "start": point.start_time_unix_nano,
                           "time": point.time_unix_nano, "value": getattr(point, point.WhichOneof("value")),
                           "type": point.WhichOneof("value"), "resource": of_resource, "scope": scope.scope.name}


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802, the library's name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mode = (FOLDER / "mode").read_text().strip()
        size = len(body)
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        request = service.ExportMetricsServiceRequest.FromString(body)
        line = json.dumps({"mode": mode, "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()},
                           "bytes": [size, len(body)], "arrived": time.time(), "points": list(points(request))})
        with LOCK, (FOLDER / "requests").open("a") as out:
            out.write(line + "\n")
            out.flush()
            os.fsync(out.fileno())
        getattr(self, mode)()

    # The modes.

    def ok(self):
        self.answer(200, service.ExportMetricsServiceResponse().SerializeToString())

    def partial(self):
        response = service.ExportMetricsServiceResponse()
        response.partial_success.rejected_data_points = 5
        response.partial_success.error_message = "five are too old"
        self.answer(200, response.SerializeToString())

    def busy(self):
        self.answer(503, b"", {"Retry-After": "1"})

    def denied(self):
        self.answer(401, b"no such token", {"Content-Type": "text/plain"})

    def garbage(self):
        self.answer(200, b"<html>Sign in to the network</html>", {"Content-Type": "text/html"})

    def redirect(self):
        self.answer(307, b"", {"Location": f"http://127.0.0.1:{self.server.server_port}/elsewhere"})

    def short(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
        self.close_connection = True

    def silent(self):
        while (FOLDER / "mode").read_text().strip() == "silent":
            time.sleep(0.05)
        self.close_connection = True

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in ({"Content-Type": "application/x-protobuf"} | dict(headers)).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True


server = Server(("127.0.0.1", int(sys.argv[1])), Receiver)
print(f"ready {server.server_port}", flush=True)
server.serve_forever()
