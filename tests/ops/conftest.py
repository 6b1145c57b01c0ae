# SPDX-License-Identifier: Apache-2.0
"""Loads the installed `_C`, keeps the tests honest, and offers `--mutate`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import registry
from mutation import MUTATIONS, SurvivedMutation

REGISTERED = pytest.StashKey[frozenset[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--mutate",
        choices=sorted(MUTATIONS),
        help="damage every op's output in this way; a test that still passes then fails",
    )
    parser.addoption("--mutate-only", metavar="OP", help="damage this op's output alone")


def pytest_configure(config: pytest.Config) -> None:
    for text in (
        "covers(*names): compares these ops of _C with a reference",
        "refuses(*names): states when these ops of _C raise",
        "states(*names): states what these ops of _C answer without a tensor",
        "at_levels(*names): a fact of these ISA levels only",
    ):
        config.addinivalue_line("markers", text)
    registry.level()
    torch.set_grad_enabled(False)
    config.stash[REGISTERED] = registry.load_library(registry.library_path())
    kind = config.getoption("--mutate")
    if kind:
        only = config.getoption("--mutate-only")
        registry.DAMAGE = registry.Damage(MUTATIONS[kind], only)


def marked_names(item: pytest.Item, mark: str) -> set[str]:
    return {name for marker in item.iter_markers(mark) for name in marker.args}


def applies(item: pytest.Item) -> bool:
    """Whether the test's fact is one of this run's level."""
    levels = marked_names(item, "at_levels")
    return not levels or registry.level() in levels


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    keep = [item for item in items if applies(item)]
    config.hook.pytest_deselected(items=[item for item in items if not applies(item)])
    items[:] = keep


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(20260401)


def assert_claims_are_true(item: pytest.Item) -> None:
    claimed = set().union(*(marked_names(item, mark) for mark in registry.MARKS))
    missing = sorted(claimed - registry.CALLS.names)
    assert not missing, f"the test is marked for {missing} but never calls it"


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    registry.CALLS.names.clear()
    outcome = yield
    damage = registry.DAMAGE
    if damage is not None and any(map(damage.hits, marked_names(pyfuncitem, "covers"))):
        if outcome.excinfo is None:
            outcome.force_exception(SurvivedMutation(pyfuncitem.nodeid))
        else:
            outcome.force_result(True)
    elif outcome.excinfo is None:
        try:
            assert_claims_are_true(pyfuncitem)
        except AssertionError as error:
            outcome.force_exception(error)


@pytest.fixture(scope="session")
def registered_ops(pytestconfig: pytest.Config) -> frozenset[str]:
    return pytestconfig.stash[REGISTERED]
