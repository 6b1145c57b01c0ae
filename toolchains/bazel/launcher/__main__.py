# SPDX-License-Identifier: Apache-2.0
"""bazelw: runs Bazel for this workspace.

usage: bazelw [BAZEL ARGUMENTS]        e.g. ./bazelw build //:wheel

Which Bazel: $BAZEL, else bazelisk or a bazel of the version in .bazelversion on PATH, else the one locked in
third_party/debian/lock.tsv (set `bazel`): its packages are fetched once from your Debian archive, unpacked into the
cache and mounted over /usr in a private mount namespace, so that Bazel and its actions see only locked programs.

environment:
  BAZEL                 a Bazel of the right version, used as it is
  BAZELW_OUTPUT_BASE    Bazel's --output_base (default: Bazel's own choice)
  DEBIAN_MIRROR         root URL of a Debian archive (default: apt's configuration)
  NPM_REGISTRY          base URL of an npm registry (default: npm's configuration)
  PYPI_INDEX            base URL of a Python simple index (default: pip's configuration)
  VLLM_SM10_CACHE       folder for userland, downloads and action results (default: ~/.cache/vllm-sm10)
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import find
import lock
import machine
import namespace
import truststore
import userland
from errors import LauncherError


def startup_options(usr: Path | None, workspace: Path, cache: Path, environ: dict[str, str]) -> list[str]:
    """Bazel's startup options; `usr` is None for a Bazel of the user's own."""
    options = []
    if output_base := environ.get("BAZELW_OUTPUT_BASE"):
        options.append(f"--output_base={output_base}")
    if usr is None:
        return options
    options += [
        "--nosystem_rc",
        f"--bazelrc={workspace / 'toolchains/bazel/no_registry.bazelrc'}",
        # A server that still runs in an older userland has other startup options and is replaced.
        f"--host_jvm_args=-Dvllm_sm10.userland={usr.parent.name}",
    ]
    if bundle := machine.ca_bundle(environ):
        store = truststore.ensure(bundle, cache)
        options += [
            f"--host_jvm_args=-Djavax.net.ssl.trustStore={store}",
            f"--host_jvm_args=-Djavax.net.ssl.trustStorePassword={truststore.PASSWORD}",
        ]
    return options


def with_caches(arguments: list[str], cache: Path) -> list[str]:
    """Adds the repository and disk cache behind the command word; the user's own flags come later and win."""
    commands = {"build", "test", "run", "fetch", "query", "cquery", "aquery", "coverage", "mod", "sync", "vendor", "info"}
    for position, word in enumerate(arguments):
        if word in commands:
            flags = [f"--repository_cache={cache / 'repository'}"]
            if word in {"build", "test", "run", "coverage", "aquery", "cquery", "info"}:
                flags.append(f"--disk_cache={cache / 'disk'}")
            return [*arguments[: position + 1], *flags, *arguments[position + 1 :]]
        if not word.startswith("-"):
            break
    return arguments


def remembered(cache: Path, name: str, ask: Callable[[], str | None]) -> str | None:
    """A built-in default of a package client, remembered: asking it costs up to half a second."""
    note = cache / name
    if note.is_file():
        return note.read_text()
    if answer := ask():
        cache.mkdir(parents=True, exist_ok=True)
        note.write_text(answer)
    return answer


def main(workspace: Path, arguments: list[str]) -> None:
    """Never returns: becomes Bazel, or raises LauncherError."""
    environ = dict(os.environ)
    cache = machine.cache_root(environ)
    mirror = machine.debian_mirror(environ)
    if mirror is not None:
        environ["DEBIAN_MIRROR"] = mirror
    if index := machine.pip_index(environ) or remembered(cache, "pip_default_index", machine.pip_default_index):
        environ["PYPI_INDEX"] = index
    if registry := machine.npm_registry(environ) or remembered(cache, "npm_default_registry", machine.npm_default_registry):
        environ["NPM_REGISTRY"] = registry
    if not Path.cwd().is_relative_to(workspace):
        # Bazel works inside of a workspace only; programs that `run` starts find the caller's folder here.
        environ["BAZELW_WORKING_DIRECTORY"] = os.getcwd()
        os.chdir(workspace)
    wanted = (workspace / ".bazelversion").read_text().strip()
    program = find.installed(wanted, environ)
    usr = None
    if program is None:
        packages = lock.read_set(workspace / "third_party/debian/lock.tsv", "bazel")
        usr = userland.ensure(packages, mirror, cache)
        program = Path("/usr/bin/bazel")
    options = startup_options(usr, workspace, cache, environ)
    command = [*options, *with_caches(arguments, cache)]
    if usr is not None:
        namespace.enter(usr)
        environ["PATH"] = "/usr/bin:/bin"
        environ["BAZEL_DO_NOT_DETECT_CPP_TOOLCHAIN"] = "1"
    os.execve(program, [program.name, *command], environ)


if __name__ == "__main__":
    if "--launcher-help" in sys.argv[2:]:
        print(__doc__.strip())
        raise SystemExit(0)
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except LauncherError as failure:
        print(f"bazelw: error: {failure}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
