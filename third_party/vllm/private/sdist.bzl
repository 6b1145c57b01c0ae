# SPDX-License-Identifier: Apache-2.0
"""Repository rule: vLLM's locked source distribution with the series of vllm_patches/ applied."""

load("//third_party/pypi:defs.bzl", "locked_file", "parse_lock", "pypi_download")

def _vllm_sdist_impl(rctx):
    lock = parse_lock(rctx.read(rctx.attr._lock))
    sdist = locked_file(lock, "sdist", "vllm")
    archive = pypi_download(rctx, [sdist])[0]
    rctx.report_progress("unpacking {}".format(sdist.filename))
    rctx.extract(archive, stripPrefix = sdist.filename.removesuffix(".tar.gz"))
    rctx.delete(archive)
    series = rctx.path(rctx.attr.series)
    rctx.watch(series)
    for name in rctx.read(series).split("\n"):
        if name and not name.startswith("#"):
            rctx.watch(series.dirname.get_child(name))
    rctx.report_progress("applying {}".format(series.basename))
    done = rctx.execute([
        rctx.path(rctx.attr.python),
        "-I",
        "-B",
        rctx.path(rctx.attr._apply),
        "--series",
        series,
        "--root",
        rctx.path("."),
    ])
    if done.return_code:
        fail("@{}: {}".format(rctx.attr.shown_name, done.stderr.strip()))
    rctx.file("BUILD.bazel", rctx.read(rctx.attr._build_file))

vllm_sdist = repository_rule(
    implementation = _vllm_sdist_impl,
    doc = "The patched sources. A patch that does not apply stops the build with its name and the hunk.",
    attrs = {
        "python": attr.label(
            doc = "Python that applies the patches.",
            mandatory = True,
            allow_single_file = True,
        ),
        "series": attr.label(
            doc = "File with one patch name a line; the patches stand beside it.",
            mandatory = True,
            allow_single_file = True,
        ),
        "shown_name": attr.string(
            doc = "The repository's name in messages.",
            default = "vllm_sdist",
        ),
        "_apply": attr.label(
            doc = "Applies the series.",
            default = "//third_party/vllm/tools:apply_series.py",
            allow_single_file = True,
        ),
        "_build_file": attr.label(
            doc = "What becomes the repository's BUILD file.",
            default = "//third_party/vllm/private:sdist.BUILD",
            allow_single_file = True,
        ),
        "_lock": attr.label(
            doc = "Lock that names the source distribution.",
            default = "//third_party/pypi:lock.tsv",
            allow_single_file = True,
        ),
    },
)
