# SPDX-License-Identifier: Apache-2.0
"""What a target is built from, read off the build graph: so a bill of materials cannot forget an input."""

BuildInputsInfo = provider(
    doc = "Everything that a target is built from.",
    fields = {
        "repositories": "depset of strings: canonical names of the external repositories",
        "sources": "depset of Files: this workspace's own source files",
    },
)

def _is_own(label):
    return not label.workspace_name

def merge_build_inputs(infos, files):
    """BuildInputsInfo of `infos` and of the source files among `files`.

    Args:
      infos: list of BuildInputsInfo.
      files: list of Files; those that actions made count by what they are made from, which is in `infos`.

    Returns:
      A BuildInputsInfo.
    """
    sources = [file for file in files if file.is_source]
    return BuildInputsInfo(
        repositories = depset(
            [file.owner.workspace_name for file in sources if not _is_own(file.owner)],
            transitive = [info.repositories for info in infos],
        ),
        sources = depset(
            [file for file in sources if _is_own(file.owner)],
            transitive = [info.sources for info in infos],
        ),
    )

def files_of(files):
    """All Files of a ctx.files or ctx.rule.files."""
    lists = [getattr(files, name) for name in dir(files)]
    return [file for found in lists if type(found) == "list" for file in found]

def _build_inputs_impl(target, ctx):
    infos = []
    for name in dir(ctx.rule.attr):
        value = getattr(ctx.rule.attr, name)
        candidates = value.keys() if type(value) == "dict" else value if type(value) == "list" else [value]
        infos += [dependency[BuildInputsInfo] for dependency in candidates if type(dependency) == "Target" and BuildInputsInfo in dependency]
    if not _is_own(target.label):
        infos.append(BuildInputsInfo(repositories = depset([target.label.workspace_name]), sources = depset()))
    return [merge_build_inputs(infos, files_of(ctx.rule.files))]

build_inputs_aspect = aspect(
    implementation = _build_inputs_impl,
    doc = "Collects what a target is built from, over all attributes. Toolchains are no attributes: what they hold is found where a rule names it.",
    attr_aspects = ["*"],
    provides = [BuildInputsInfo],
)
