# SPDX-License-Identifier: Apache-2.0
"""Wheels installed into an overlay of the guest."""

WheelFactsInfo = provider(
    doc = "What is known of wheels that were installed.",
    fields = {"facts": "File: JSON list of their file names, sha256 and compilers."},
)

def _facts_file(ctx, python):
    facts = ctx.actions.declare_file(ctx.label.name + ".facts.json")
    arguments = ctx.actions.args()
    arguments.add(ctx.file._facts)
    arguments.add(facts)
    arguments.add_all(ctx.files.wheels)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(ctx.files.wheels + [ctx.file._facts] + ctx.files._runner, transitive = [python.files, python.default_runfiles.files]),
        outputs = [facts],
        mnemonic = "WheelFacts",
        progress_message = "Taking the facts of the wheels of %{label}",
    )
    return facts

def _installed_wheels_impl(ctx):
    overlay = ctx.actions.declare_directory(ctx.label.name)
    python = ctx.attr._python[DefaultInfo]
    main = [file for file in ctx.files._installer if file.basename == "__main__.py"][0]
    arguments = ctx.actions.args()
    arguments.add(main.dirname)
    arguments.add("--root", overlay.path)
    arguments.add("--purelib", "usr/local/lib/python3.14/dist-packages")
    arguments.add("--prefix", "usr/local")
    arguments.add("--interpreter", "/usr/bin/python3")
    arguments.add_all(ctx.files.wheels)
    ctx.actions.run(
        executable = ctx.executable._python,
        arguments = [arguments],
        inputs = depset(ctx.files.wheels + ctx.files._installer, transitive = [python.files, python.default_runfiles.files]),
        outputs = [overlay],
        mnemonic = "InstallWheels",
        progress_message = "Installing wheels for the guest: %{label}",
    )
    return [DefaultInfo(files = depset([overlay])), WheelFactsInfo(facts = _facts_file(ctx, python))]

installed_wheels = rule(
    implementation = _installed_wheels_impl,
    doc = "Wheels as an installer leaves them in the guest (RECORD checked, scripts in usr/local/bin, modules compiled ahead): an overlay of `guest`.",
    attrs = {
        "wheels": attr.label_list(allow_files = [".whl"], mandatory = True, doc = "The wheels."),
        "_facts": attr.label(default = "//toolchains/qemu/private:wheel_facts.py", allow_single_file = True, doc = "Takes the wheels' facts."),
        "_installer": attr.label(default = "//third_party/pypi/install:sources", doc = "The installer."),
        "_runner": attr.label(default = "//toolchains/qemu:runner", doc = "Modules that the facts' program shares with the guest's runner."),
        "_python": attr.label(default = "//toolchains/python:python3", executable = True, cfg = "exec", doc = "Python of the machine that builds; its byte code is the guest's."),
    },
    provides = [WheelFactsInfo],
)
