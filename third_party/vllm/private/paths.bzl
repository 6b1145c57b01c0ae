# SPDX-License-Identifier: Apache-2.0
"""Paths of repositories, and programs of //toolchains as tools of actions."""

def repository_root(label):
    """Folder, below the execution root, of the repository that `label` stands in.

    Args:
      label: any label of it.

    Returns:
      The path.
    """
    return Label(label).workspace_root

def tool_inputs(*targets):
    """Inputs of an action that starts programs of //toolchains: they read the locked tree by its own path.

    Args:
      *targets: the programs' targets.

    Returns:
      A depset of files.
    """
    return depset(transitive = [target[DefaultInfo].default_runfiles.files for target in targets])
