"""Certificates: both ends of a connection show one, and it must carry the name they say."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from presage.errors import CannotListen
from presage.runtime.cluster import Cluster


class Contexts:
    """How one node speaks TLS: as a server, and as a client."""

    def __init__(self, cluster: Cluster, node: str) -> None:
        assert cluster.tls is not None
        files = cluster.tls.of(node, Path(cluster.folder))
        self.server = _context(ssl.PROTOCOL_TLS_SERVER, *files)
        self.client = _context(ssl.PROTOCOL_TLS_CLIENT, *files)


def _context(protocol: int, ca: Path, cert: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the name of a node is compared instead
    context.verify_mode = ssl.CERT_REQUIRED
    path = ca
    try:
        context.load_verify_locations(ca)
        path = cert
        context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise CannotListen(
            f"the certificate `{path}` cannot be used: {reason}",
            "a file that is missing or not PEM, or a key of another certificate",
            "correct [tls] in the cluster file; paths begin at its folder",
        ) from error
    return context


def names_of(certificate: Mapping[str, Any]) -> Iterator[str]:
    """The names that a certificate is for: alternative names, else the common name."""
    found = [value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"]
    if found:
        yield from found
        return
    for part in certificate.get("subject", ()):
        yield from (value for kind, value in part if kind == "commonName")
