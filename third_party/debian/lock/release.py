# SPDX-License-Identifier: Apache-2.0
"""A suite's InRelease file: its signature, its date, and the digests of the indices it vouches for."""

import hashlib
import lzma
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from third_party.debian.lock import deb822
from third_party.debian.lock.errors import FormatError, MirrorError, SignatureError
from third_party.debian.lock.mirror import Mirror

DEFAULT_KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
)
_REMEDY = "install gpgv and debian-archive-keyring, or pass --keyring, or pass --no-verify-signature to do without"


@dataclass(frozen=True)
class Release:
    """What an InRelease file says.

    Its Valid-Until is not looked at, on purpose: it guards machines that follow a suite against a mirror that
    hides updates. A lock names one snapshot, which stays the same however old it grows.
    """

    suite: str
    snapshot: str
    digests: dict[str, str]

    def read_index(self, mirror: Mirror, architecture: str) -> str:
        """The text of the suite's main package index, checked against the digest that was signed."""
        path = f"main/binary-{architecture}/Packages.xz"
        if path not in self.digests:
            raise MirrorError(f"suite {self.suite} has no {path}; correct 'architecture' or the suite in requests.toml")
        expected = self.digests[path]
        # By digest, not by name: a mirror that is being updated serves a new index under the old name.
        data = mirror.read(f"dists/{self.suite}/main/binary-{architecture}/by-hash/SHA256/{expected}")
        found = hashlib.sha256(data).hexdigest()
        if found != expected:
            raise MirrorError(f"{self.suite}: {path} has sha256 {found}, InRelease says {expected}; try again or take another mirror")
        return lzma.decompress(data).decode()


def parse_release(suite: str, text: str) -> Release:
    """Reads the signed text of an InRelease file."""
    fields = next(iter(deb822.paragraphs(text)), {})
    if "Date" not in fields or "SHA256" not in fields:
        raise FormatError(f"InRelease of {suite}: the field Date or SHA256 is missing; is the mirror a Debian archive?")
    lines = [line.split() for line in fields["SHA256"].splitlines() if line.strip()]
    return Release(suite, _snapshot(fields["Date"]), {path: digest for digest, _, path in lines})


def _snapshot(date: str) -> str:
    """The timestamp by which a snapshot archive files this state of the suite."""
    moment: datetime = parsedate_to_datetime(date.replace("UTC", "+0000")).astimezone(UTC)
    return moment.strftime("%Y%m%dT%H%M%SZ")


def verified_text(suite: str, data: bytes, keyring: Path | None) -> str:
    """The part of an InRelease file that its signature covers; a SignatureError if none of the keyring's keys made it."""
    gpgv = shutil.which("gpgv")
    rings = [keyring] if keyring else [ring for ring in DEFAULT_KEYRINGS if ring.is_file()]
    if gpgv is None or not rings:
        missing = "gpgv" if gpgv is None else "the Debian archive keyring"
        raise SignatureError(f"InRelease of {suite}: its signature cannot be checked, {missing} is missing; {_REMEDY}")
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        command = [gpgv, "--status-fd", "2", "--keyring", str(rings[0].absolute()), "--output", "-", file.name]
        result = subprocess.run(command, capture_output=True, check=False)
    status = result.stderr.decode(errors="replace")
    # A suite is signed by several keys and an older keyring knows only some: as for apt, one good one is enough, a bad one is fatal.
    if "[GNUPG:] VALIDSIG " not in status or "[GNUPG:] BADSIG " in status:
        raise SignatureError(f"InRelease of {suite}: no good signature by a key of {rings[0]}; {_REMEDY}\n{status.strip()}")
    return result.stdout.decode()


def unverified_text(data: bytes) -> str:
    """The text of an InRelease file without its signature, which is not checked."""
    header, _, rest = data.decode().partition("\n\n")
    if not header.startswith("-----BEGIN PGP SIGNED MESSAGE-----"):
        raise FormatError("InRelease: not a signed message; is the mirror a Debian archive?")
    return rest.partition("\n-----BEGIN PGP SIGNATURE-----")[0] + "\n"
