# SPDX-License-Identifier: Apache-2.0
"""Mirror, index and certificates come from the machine's own configuration."""

from pathlib import Path

import machine
import pytest


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_the_environment_wins(apt: Path) -> None:
    (apt / "sources.list").write_text("deb http://a.example/debian stable main\n")
    assert machine.debian_mirror({"DEBIAN_MIRROR": "http://b.example/x/"}, apt) == "http://b.example/x"


def test_one_line_sources_are_read(apt: Path) -> None:
    (apt / "sources.list").write_text("# a comment\ndeb [signed-by=/k.gpg] http://a.example/debian/ stable main contrib\n")
    assert machine.debian_mirror({}, apt) == "http://a.example/debian"


def test_deb822_sources_are_read(apt: Path) -> None:
    (apt / "sources.list.d/debian.sources").write_text("Types: deb deb-src\nURIs: http://a.example/debian\nSuites: stable\nComponents: main\n")
    assert machine.debian_mirror({}, apt) == "http://a.example/debian"


def test_disabled_stanzas_are_passed_over(apt: Path) -> None:
    (apt / "sources.list.d/a.sources").write_text(
        "Enabled: no\nTypes: deb\nURIs: http://no.example/debian\nSuites: s\nComponents: main\n\n"
        "Types: deb\nURIs: http://yes.example/debian\nSuites: s\nComponents: main\n"
    )
    assert machine.debian_mirror({}, apt) == "http://yes.example/debian"


def test_archives_of_other_vendors_are_passed_over(apt: Path) -> None:
    (apt / "sources.list").write_text("deb http://vendor.example/tool stable main\n")
    assert machine.debian_mirror({}, apt) is None


def test_pip_configuration_names_the_index(tmp_path: Path) -> None:
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[global]\nindex-url = http://index.example/simple/\n")
    assert machine.pip_index({"PIP_CONFIG_FILE": str(configuration), "HOME": str(tmp_path)}) == "http://index.example/simple"


def test_pip_environment_wins_over_its_files(tmp_path: Path) -> None:
    assert machine.pip_index({"PIP_INDEX_URL": "http://env.example/simple", "HOME": str(tmp_path)}) == "http://env.example/simple"


def test_npm_configuration_names_the_registry(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = http://registry.example/npm/\n")
    assert machine.npm_registry({"HOME": str(tmp_path)}) == "http://registry.example/npm"


@pytest.mark.parametrize("variable", ["NPM_REGISTRY", "npm_config_registry"])
def test_npm_environment_wins_over_its_files(variable: str, tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("registry=http://file.example/\n")
    assert machine.npm_registry({variable: "http://env.example/", "HOME": str(tmp_path)}) == "http://env.example"


def test_named_certificates_win(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("")
    assert machine.ca_bundle({"SSL_CERT_FILE": str(bundle)}) == bundle


def test_the_cache_follows_xdg(tmp_path: Path) -> None:
    assert machine.cache_root({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "vllm-sm10"
