# SPDX-License-Identifier: Apache-2.0
"""Makes one tree from the .deb files of a folder. Run by the repository rules, with the locked Python."""

import argparse
import lzma
import multiprocessing
import os
import sys
import tarfile
from functools import partial
from pathlib import Path

# Beside this folder, as another maker of trees has it too.
sys.path.append(str(Path(__file__).absolute().parents[2] / "bytecode"))

import bytecode
from debtree import deb, finish, libraries
from debtree.errors import TreeError
from debtree.spec import PathFilter, load_spec


def _unpack(file: Path, root: Path, keep: PathFilter) -> tuple[str, int, str]:
    """Unpacks one package in a worker; an error comes back as text, because a pool loses an exception's cause."""
    try:
        return file.name, len(deb.unpack(file, root, keep)), ""
    except (TreeError, OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        return file.name, 0, f"{file.name}: {error}"


def make_tree(debs: Path, root: Path, spec_files: list[Path], jobs: int) -> str:
    """Unpacks every package and finishes the tree; returns a summary."""
    spec = load_spec(spec_files)
    root.mkdir(parents=True)
    # Largest first, so that the workers end together.
    files = sorted(debs.glob("*.deb"), key=lambda file: file.stat().st_size, reverse=True)
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        results = list(pool.imap_unordered(partial(_unpack, root=root, keep=spec.filter()), files))
    errors = sorted(error for _, _, error in results if error)
    if errors:
        raise TreeError("\n".join(errors))
    finish.merge_usr(root)
    finish.add_links(root, spec)
    finish.add_concatenations(root, spec)
    finish.make_scripts_relative(root)
    # Each can make work for the other: a link to an emptied folder, a folder of nothing but such links.
    while finish.remove_dangling(root) + finish.remove_empty_folders(root):
        pass
    libraries.check_libraries(root, spec.missing_libraries)
    compiled = bytecode.compile_folders(root, spec.compile, jobs) if spec.compile else 0
    finish.set_file_times(root)
    return f"{len(files)} packages, {sum(count for _, count, _ in results)} files, {compiled} compiled"


def main() -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="tree", description="Makes one tree from .deb files.")
    parser.add_argument("--debs", type=Path, required=True, help="folder of the .deb files")
    parser.add_argument("--root", type=Path, required=True, help="folder to make; must not exist")
    parser.add_argument("--spec", type=Path, action="append", required=True, help="specification, see spec.py; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="packages unpacked at once (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        print(make_tree(arguments.debs, arguments.root.absolute(), arguments.spec, arguments.jobs))
    except TreeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
