# SPDX-License-Identifier: Apache-2.0
"""Turns the machine's PEM bundle into a Java key store, so that Bazel's downloader trusts what the machine trusts."""

import base64
import hashlib
import os
import re
import struct
import tempfile
from pathlib import Path

PASSWORD = "changeit"  # Java's documented default; the store holds public certificates only


def _utf(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def java_key_store(pem: str) -> bytes:
    """A JKS (version 2) of trusted certificates; layout: OpenJDK's JavaKeyStore, sun.security.provider."""
    blocks = re.findall(r"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", pem, re.DOTALL)
    certificates = [base64.b64decode(block) for block in blocks]
    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, certificate in enumerate(certificates):
        body += struct.pack(">I", 2) + _utf(f"ca{number}") + struct.pack(">Q", 0)
        body += _utf("X.509") + struct.pack(">I", len(certificate)) + certificate
    return body + hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()


def ensure(bundle: Path, cache: Path) -> Path:
    """Path of the key store for this bundle, made once per content."""
    pem = bundle.read_bytes()
    store = cache / "truststore" / f"{hashlib.sha256(pem).hexdigest()[:16]}.jks"
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=store.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(java_key_store(pem.decode("utf-8", "replace")))
        os.replace(temporary, store)
    return store
