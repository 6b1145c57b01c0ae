# SPDX-License-Identifier: Apache-2.0
"""Where packages come from, as this machine is configured: no host stands in the repository."""

import configparser
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

APT_ROOT = Path("/etc/apt")
SYSTEM_CA_BUNDLES = (
    Path("/etc/ssl/certs/ca-certificates.crt"),
    Path("/etc/pki/tls/certs/ca-bundle.crt"),
    Path("/etc/ssl/cert.pem"),
)


def apt_archive_uris(apt_root: Path = APT_ROOT) -> Iterator[str]:
    """URIs of apt sources that carry a main component, in the order in which apt reads them."""
    legacy = [apt_root / "sources.list", *sorted(apt_root.glob("sources.list.d/*.list"))]
    for path in legacy:
        if not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            match = re.match(r"deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)", line)
            if match and "main" in match[3].split():
                yield match[1]
    for path in sorted(apt_root.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text(errors="replace")):
            fields = dict(re.findall(r"^([A-Za-z-]+):\s*(.*)$", stanza, re.MULTILINE))
            enabled = fields.get("Enabled", "yes").lower() != "no"
            if enabled and "deb" in fields.get("Types", "").split() and "main" in fields.get("Components", "").split():
                yield from fields.get("URIs", "").split()


def debian_mirror(environ: Mapping[str, str], apt_root: Path = APT_ROOT) -> str | None:
    """Root URL of the Debian archive: $DEBIAN_MIRROR, else the first source of apt's that ends in /debian."""
    if configured := environ.get("DEBIAN_MIRROR"):
        return configured.rstrip("/")
    for uri in apt_archive_uris(apt_root):
        if uri.startswith(("http://", "https://", "file:")) and uri.rstrip("/").endswith("/debian"):
            return uri.rstrip("/")
    return None


def _pip_configuration_files(environ: Mapping[str, str]) -> list[Path]:
    """pip's configuration files, most specific first (pip's documented order, without site)."""
    home = Path(environ.get("HOME", "/nonexistent"))
    named = environ.get("PIP_CONFIG_FILE")
    found = [Path(named)] if named else []
    found += [home / ".config/pip/pip.conf", home / ".pip/pip.conf"]
    for base in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":"):
        found.append(Path(base) / "pip/pip.conf")
    return [*found, Path("/etc/pip.conf")]


def pip_index(environ: Mapping[str, str]) -> str | None:
    """Base URL of the Python simple index as configured: $PYPI_INDEX, pip's environment, its files; else None."""
    for variable in ("PYPI_INDEX", "PIP_INDEX_URL"):
        if configured := environ.get(variable):
            return configured.rstrip("/")
    for path in _pip_configuration_files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path)
        except configparser.Error:
            continue
        for section in ("install", "global"):
            if parser.has_option(section, "index-url"):
                return parser.get(section, "index-url").rstrip("/")
    return None


def pip_default_index() -> str | None:
    """pip's built-in index, asked of the pip on this machine; None where there is none."""
    code = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    for python in ("python3", "/usr/bin/python3"):
        try:
            answer = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0:
            return answer.stdout.strip().rstrip("/")
    return None


def _npm_configuration_files(environ: Mapping[str, str]) -> list[Path]:
    """npm's configuration files, most specific first (npm's documented order, without a project's)."""
    home = Path(environ.get("HOME", "/nonexistent"))
    user = Path(environ.get("NPM_CONFIG_USERCONFIG") or home / ".npmrc")
    return [user, *(Path(prefix) / "etc/npmrc" for prefix in ("/", "/usr/local", "/usr"))]


def npm_registry(environ: Mapping[str, str]) -> str | None:
    """Base URL of the npm registry as configured: $NPM_REGISTRY, npm's environment, its files; else None."""
    for variable in ("NPM_REGISTRY", "NPM_CONFIG_REGISTRY", "npm_config_registry"):
        if configured := environ.get(variable):
            return configured.rstrip("/")
    for path in _npm_configuration_files(environ):
        if path.is_file() and (match := re.search(r"^registry\s*=\s*(\S+)", path.read_text(errors="replace"), re.MULTILINE)):
            return match[1].rstrip("/")
    return None


def npm_default_registry() -> str | None:
    """npm's built-in registry, asked of the npm on this machine; None where there is none."""
    try:
        answer = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip().rstrip("/") if answer.returncode == 0 else None


def ca_bundle(environ: Mapping[str, str]) -> Path | None:
    """The PEM bundle of certificate authorities that this machine trusts: $SSL_CERT_FILE, else the system's."""
    named = environ.get("SSL_CERT_FILE")
    candidates = ([Path(named)] if named else []) + list(SYSTEM_CA_BUNDLES)
    return next((path for path in candidates if path.is_file()), None)


def cache_root(environ: Mapping[str, str]) -> Path:
    """Folder of everything that bazelw keeps between runs."""
    if named := environ.get("VLLM_SM10_CACHE"):
        return Path(named).absolute()
    base = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(base) / "vllm-sm10"
