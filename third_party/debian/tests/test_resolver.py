# SPDX-License-Identifier: Apache-2.0
"""A set is the closure of its roots over Pre-Depends and Depends."""

import pytest

from third_party.debian.lock.errors import ResolveError
from third_party.debian.lock.index import Index, parse_packages
from third_party.debian.lock.resolver import Closure, resolve


def package(name: str, depends: str = "", version: str = "1", provides: str = "", pre_depends: str = "") -> str:
    fields = {
        "Package": name,
        "Version": version,
        "Pre-Depends": pre_depends,
        "Depends": depends,
        "Provides": provides,
        "Filename": f"pool/{name}.deb",
        "SHA256": "0" * 64,
        "Size": "1",
    }
    return "\n".join(f"{key}: {value}" for key, value in fields.items() if value) + "\n"


def close(*packages: str, roots: tuple[str, ...] = ("root",), excluded: tuple[str, ...] = ()) -> Closure:
    index = Index.of(parse_packages("\n".join(packages), "forky"))
    return resolve(index, roots, frozenset(excluded), "set 'test'")


def names(closure: Closure) -> list[str]:
    return sorted(closure.packages)


def test_dependencies_are_followed_to_their_end() -> None:
    assert names(close(package("root", "a"), package("a", "b"), package("b"), package("c"))) == ["a", "b", "root"]


def test_pre_depends_count() -> None:
    assert names(close(package("root", pre_depends="a"), package("a"))) == ["a", "root"]


def test_cycle_ends() -> None:
    assert names(close(package("root", "a"), package("a", "root"))) == ["a", "root"]


def test_architecture_qualifier_is_no_part_of_the_name() -> None:
    assert names(close(package("root", "python3:any (>= 3)"), package("python3", version="3.14"))) == ["python3", "root"]


def test_first_alternative_wins() -> None:
    assert names(close(package("root", "a | b"), package("a"), package("b"))) == ["a", "root"]


def test_absent_alternative_is_passed_over() -> None:
    assert names(close(package("root", "a | b"), package("b"))) == ["b", "root"]


def test_alternative_of_another_version_is_passed_over() -> None:
    assert names(close(package("root", "a (>= 2) | b"), package("a"), package("b"))) == ["b", "root"]


def test_root_that_is_an_alternative_satisfies() -> None:
    assert names(close(package("root", "a | b"), package("a"), package("b"), roots=("b", "root"))) == ["b", "root"]


def test_root_that_provides_satisfies() -> None:
    packages = (package("root", "libblas3 | libblas.so.3"), package("libblas3"), package("openblas", provides="libblas.so.3"))
    assert names(close(*packages, roots=("openblas", "root"))) == ["openblas", "root"]


def test_provider_is_chosen_by_name() -> None:
    assert names(close(package("root", "awk"), package("mawk", provides="awk"), package("gawk", provides="awk"))) == ["gawk", "root"]


def test_versioned_provides_satisfies_its_bound() -> None:
    assert names(close(package("root", "api (>= 2)"), package("a", provides="api (= 2.1)"))) == ["a", "root"]


def test_unversioned_provides_satisfies_no_bound() -> None:
    with pytest.raises(ResolveError, match=r"nothing satisfies 'api \(>= 2\)'"):
        close(package("root", "api (>= 2)"), package("a", provides="api"))


def test_versioned_provides_below_the_bound_does_not_satisfy() -> None:
    with pytest.raises(ResolveError, match="nothing satisfies"):
        close(package("root", "api (>= 2)"), package("a", provides="api (= 1)"))


def test_highest_version_of_a_suite_counts() -> None:
    assert close(package("root", version="1.9"), package("root", version="1.10"), package("root", version="1.2")).packages["root"].version == "1.10"


def test_excluded_package_counts_as_present() -> None:
    assert names(close(package("root", "debconf | debconf-2.0"), package("cdebconf", provides="debconf-2.0"), excluded=("debconf",))) == ["root"]


def test_excluded_package_provides_nothing() -> None:
    assert names(close(package("root", "awk"), package("gawk", provides="awk"), package("mawk", provides="awk"), excluded=("gawk",))) == ["mawk", "root"]


def test_met_exclusions_are_reported() -> None:
    assert close(package("root", "a"), excluded=("a", "b")).met_exclusions == {"a"}


def test_unsatisfiable_dependency_names_the_chain_from_the_root() -> None:
    with pytest.raises(ResolveError, match=r"set 'test': nothing satisfies 'c', needed by root -> a -> b \(1\); exclude it"):
        close(package("root", "a"), package("a", "b"), package("b", "c"))


def test_unknown_root_is_named() -> None:
    with pytest.raises(ResolveError, match="root package 'root' does not exist"):
        close(package("a"))


def test_excluded_root_is_an_error() -> None:
    with pytest.raises(ResolveError, match="'root' is both a root and excluded"):
        close(package("root"), excluded=("root",))
