# SPDX-License-Identifier: Apache-2.0
"""What a registry says of a package, and the archive that this is about."""

from __future__ import annotations

import base64
import hashlib
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from lockfile import Entry

INSTALL_SCRIPTS = ("preinstall", "install", "postinstall")


class RegistryError(Exception):
    """A package cannot be locked; the text says why and what to do."""


@dataclass(frozen=True)
class Registry:
    """An npm registry by its base URL."""

    url: str

    def lock(self, name: str, version: str, requested: dict[str, str]) -> Entry:
        """Asks for one package, checks that it can be used without installing it, and takes its archive's hashes."""
        manifest = json.loads(self._get(f"{name}/{version}"))
        check_usable(name, manifest, requested)
        archive = self._get(f"{name}/-/{name.rpartition('/')[2]}-{version}.tgz")
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        told = manifest.get("dist", {}).get("integrity")
        if told != integrity:
            raise RegistryError(f"{name} {version}: the registry says integrity {told}, its archive has {integrity}; ask another registry")
        return Entry(name, version, hashlib.sha256(archive).hexdigest(), integrity)

    def _get(self, path: str) -> bytes:
        url = f"{self.url}/{path}"
        try:
            with urllib.request.urlopen(url, timeout=180) as answer:
                content: bytes = answer.read()
                return content
        except (urllib.error.URLError, OSError) as error:
            raise RegistryError(f"no answer to {url}: {error}; check requests.toml and NPM_REGISTRY") from error


def check_usable(name: str, manifest: dict[str, Any], requested: dict[str, str]) -> None:
    scripts = [script for script in INSTALL_SCRIPTS if script in manifest.get("scripts", {})]
    if scripts:
        raise RegistryError(f"{name}: its {scripts[0]} script makes a part of it, and packages' scripts are not run here; take another package")
    missing = sorted(set(manifest.get("dependencies", {})) - set(requested))
    if missing:
        raise RegistryError(f"{name}: it needs {', '.join(missing)}; ask for them in requests.toml")
