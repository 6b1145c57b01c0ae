# SPDX-License-Identifier: Apache-2.0
"""Which cells a declaration has and what each is given. Every function gives (result, None) or (None, what is wrong and the remedy)."""

load("//tests/private:environments.bzl", "ENVIRONMENTS", "what_it_has")

def _problem(what, remedy):
    return None, "%s\n  remedy: %s" % (what, remedy)

def _unknown(what, given, known):
    """None, or the problem of the first name that is not known."""
    for entry in given:
        if entry not in known:
            return _problem("%s names '%s'" % (what, entry), "choose among %s" % ", ".join(known))
    return None

def check_compilers(compilers, known):
    """Whether these are compilers.

    Args:
      compilers: names.
      known: those that there are.

    Returns:
      ([], None) or (None, problem).
    """
    return _unknown("compilers", compilers, known) or ([], None)

def _lacks(environment, requires):
    """(level whose code has what is required, None) or (None, why there is none)."""
    best = None
    for code, words in what_it_has(environment).items():
        missing = [word for word in requires if word not in words]
        if not missing:
            return code, None
        if best == None or len(missing) < len(best):
            best = missing
    return None, "%s has no %s" % (environment, ", ".join(best))

def plan_cells(kinds, requires, environments, elsewhere, excluded):
    """What becomes of each environment.

    Args:
      kinds: of environments that the kind of test can run in.
      requires: words of what_it_has.
      environments: where it runs; None: wherever it can.
      elsewhere: why nowhere else.
      excluded: environment to a reason.

    Returns:
      ({environment: struct(code, why_not)}, None) or (None, problem).
    """
    unknown = _unknown("excluded", excluded, ENVIRONMENTS) or _unknown("environments", environments or [], ENVIRONMENTS)
    if unknown:
        return unknown
    if environments != None and not elsewhere:
        return _problem("environments without elsewhere", "say in `elsewhere` why the test runs nowhere else")
    if elsewhere and environments == None:
        return _problem("elsewhere without environments is not used", "remove it, or name the environments")
    plan = {}
    for environment, row in ENVIRONMENTS.items():
        code, why_not = _lacks(environment, requires)
        chosen = environments == None or environment in environments
        if row.kind not in kinds:
            why_not = "the test is for environments of kind %s" % " or ".join(kinds)
        if why_not and environments and chosen:
            return _problem("%s, which it requires" % why_not, "take it out of `environments` or of `requires`")
        if environment in excluded and (why_not or not chosen):
            return _problem("excluded['%s'] is not used: %s" % (environment, why_not or elsewhere), "remove it")
        plan[environment] = struct(code = code, why_not = why_not or excluded.get(environment) or (None if chosen else elsewhere))
    if not [cell for cell in plan.values() if not cell.why_not]:
        return _problem("it runs nowhere", "see `requires`, `environments` and `excluded`")
    return plan, None

def merge(attributes, more):
    """Attributes with more: lists and dicts are added to, everything else is replaced.

    Args:
      attributes: name to value.
      more: name to value.

    Returns:
      Both.
    """
    merged = dict(attributes)
    for name, value in more.items():
        if name in merged and type(value) in ("list", "dict") and type(value) == type(merged[name]):
            merged[name] = merged[name] + value if type(value) == "list" else merged[name] | value
        else:
            merged[name] = value
    return merged

def _replaced(key, parameter, value, cell, parameters):
    """Whether a cell has a value of its own in place of its kind's or compiler's."""
    return key not in ENVIRONMENTS and type(value) not in ("list", "dict") and parameter in parameters.get(cell[0], {})

def merge_parameters(parameters, plan, compilers, known):
    """What each running cell is given: what its kind has, its compiler, its environment. A parameter that no cell uses is an error.

    Args:
      parameters: kind, compiler or environment to attributes.
      plan: of plan_cells.
      compilers: of the declaration.
      known: attributes that may be given.

    Returns:
      ({(environment, compiler): attributes}, None) or (None, problem).
    """
    kinds = {row.kind: None for row in ENVIRONMENTS.values()}
    cells = [(environment, compiler) for environment, cell in plan.items() if not cell.why_not for compiler in compilers]
    unknown = _unknown("parameters", parameters, kinds.keys() + compilers + ENVIRONMENTS.keys())
    if unknown:
        return unknown
    for key, values in parameters.items():
        users = [cell for cell in cells if key in (cell[0], cell[1], ENVIRONMENTS[cell[0]].kind)]
        if not users:
            return _problem("parameters['%s'] is not used: no cell runs there" % key, "remove it")
        unknown = _unknown("parameters['%s']" % key, values, known)
        if unknown:
            return unknown
        for parameter, value in values.items():
            if not [cell for cell in users if not _replaced(key, parameter, value, cell, parameters)]:
                return _problem("parameters['%s']['%s'] is not used: every cell has its own" % (key, parameter), "remove it")
    return {
        (environment, compiler): merge(
            merge(parameters.get(ENVIRONMENTS[environment].kind, {}), parameters.get(compiler, {})),
            parameters.get(environment, {}),
        )
        for environment, compiler in cells
    }, None
