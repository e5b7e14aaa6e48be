"""Addresses with a certificate that no client may accept. duewheeld itself refuses to start with one that has expired."""

import socket
import ssl
import threading

from certificates import Authority


class Impostor:
    """Listens on a port of its own until close(), and shows a certificate. A client that accepts it loses its connection."""

    def __init__(self, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.show, args=(connection,), daemon=True).start()

    def show(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True) as trusting:
                trusting.recv(65536)
        except OSError:
            pass  # it does not trust the certificate

    def close(self):
        self.listener.close()


def impostors(authority):
    """By the variable that has the URL. All but the one that signs itself are signed by the authority."""
    alone = Authority(authority.directory, "alone")
    return {"expired_url": Impostor(*authority.issue("expired", days=-1)),
            "self_signed_url": Impostor(alone.certificate, alone.key),
            "other_host_url": Impostor(*authority.issue("other_host", "DNS:duewheel.example,IP:192.0.2.1"))}
