"""The likelihood families, one file each."""

from bayesnb.families.base import Family, Statistics
from bayesnb.families.bernoulli import Bernoulli
from bayesnb.families.categorical import Categorical
from bayesnb.families.gaussian import Gaussian
from bayesnb.families.multinomial import Multinomial
from bayesnb.families.poisson import Poisson

__all__ = ["Bernoulli", "Categorical", "Family", "Gaussian", "Multinomial", "Poisson", "Statistics"]
