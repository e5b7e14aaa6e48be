"""A receiver of webhooks for the tests: a thread that records requests, and responds as configured."""

import http.server
import ssl
import threading
import time


class Post:
    """One request as it came."""

    def __init__(self, path, headers, body):
        self.path = path
        self.headers = headers
        self.body = body
        self.at = time.time()

    @property
    def id(self):
        return self.headers["webhook-id"]


class Receiver:
    """Listens on a port of its own. `answer(post)` returns the status, (status, headers) or (status, headers, body);
    200 unless it is given. It runs on a thread for each connection and may block."""

    def __init__(self, answer=lambda post: 200, certificate=None, key=None, address="127.0.0.1"):
        self.answer = answer
        self.posts = []
        self.connections = 0
        self.changed = threading.Condition()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with receiver.changed:
                    receiver.connections += 1
                    receiver.changed.notify_all()

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                post = Post(self.path, self.headers, body)
                with receiver.changed:
                    receiver.posts.append(post)
                    receiver.changed.notify_all()
                status, headers, text = self.filled(receiver.answer(post))
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    self.close_connection = True

            do_GET = do_PUT = do_CONNECT = do_POST

            @staticmethod
            def filled(said):
                said = said if isinstance(said, tuple) else (said,)
                return (*said, *({}, b"")[len(said) - 1:])

            def log_message(self, *unused):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *unused):
                pass

        self.server = Server((address, 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.scheme = "https" if certificate else "http"
        self.address = address
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.shutdown()
        self.server.server_close()

    def url(self, path="/in"):
        return f"{self.scheme}://{self.address}:{self.port}{path}"

    def wait_for(self, count, within_s=120):
        """The first posts, once there are so many."""
        with self.changed:
            enough = self.changed.wait_for(lambda: len(self.posts) >= count, within_s)
            assert enough, f"only {len(self.posts)} of {count} came"
            return list(self.posts)
