"""PyMC's log density as a function of the parameters in their own space."""

import pytensor
from pytensor.compile.mode import Mode
from pytensor.graph.replace import graph_replace

PLAIN = Mode("py", None)  # compiles nothing


def log_joint(model):
    """PyMC's log density of data and parameters, as a function of the parameters in their own space."""
    theta = {rv.name: rv.type(name=rv.name) for rv in model.free_RVs}
    values = {}
    for rv in model.free_RVs:
        transform = model.rvs_to_transforms[rv]
        here = theta[rv.name]
        values[model.rvs_to_values[rv]] = here if transform is None else transform.forward(here, *rv.owner.inputs)
    density = graph_replace(model.logp(jacobian=False), values, strict=False)
    density = graph_replace(density, {rv: theta[rv.name] for rv in model.free_RVs}, strict=False)
    compiled = pytensor.function(list(theta.values()), density, mode=PLAIN)
    return lambda variables: float(compiled(*(variables[name] for name in theta)))
