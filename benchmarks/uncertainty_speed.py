"""What closed-form intervals cost beside point predictions, and draws by blocks beside a loop over draws.

python benchmarks/uncertainty_speed.py
"""

import numpy as np
from scipy.special import entr, softmax
from timing import seconds

from bayesnb import Bernoulli, Categorical, Gaussian, NaiveBayes, Poisson


def tables(rng, n_rows):
    yield "20 Categorical", Categorical(), rng.integers(0, 4, (n_rows, 20)).astype(np.uint8)
    yield "50 Bernoulli", Bernoulli(), rng.random((n_rows, 50)) < 0.3
    yield "30 Gaussian", Gaussian(), rng.normal(size=(n_rows, 30))
    yield "20 Poisson", Poisson(), rng.poisson(3, (n_rows, 20))


def closed_form(n_rows=40_000):
    rng = np.random.default_rng(1)
    print(f"{n_rows:,} rows, 2 labels: predict_proba, predict_uncertainty in closed form, ratio of medians")
    for name, family, x in tables(rng, n_rows):
        model = NaiveBayes(family).fit(x, rng.integers(0, 2, n_rows))
        plain, full = seconds(lambda m=model, x=x: m.predict_proba(x), lambda m=model, x=x: m.predict_uncertainty(x))
        print(f"  {name:16} {plain * 1e3:8.0f} ms {full * 1e3:8.0f} ms {full / plain:6.1f}")


def loop_over_draws(x, label_prob, probs):
    """Return what ``predict_uncertainty`` does, as a plain NumPy loop over draws finds it."""
    result = np.empty((len(label_prob), len(x), label_prob.shape[1]))
    for d in range(len(label_prob)):
        score = np.log(label_prob[d]) + sum(np.log(prob[d]).T[x[:, j]] for j, prob in enumerate(probs))
        result[d] = softmax(score, axis=1)
    mean, aleatoric = result.mean(0), np.mean([entr(p).sum(1) for p in result], axis=0)
    return mean, result.std(0), np.quantile(result, [0.03, 0.97], axis=0), entr(mean).sum(1), aleatoric


def draws(n_rows=10_000, n_features=20, n_labels=5, n_draws=1000, n_looped=100):
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 4, (n_rows, n_features)).astype(np.uint8), rng.integers(0, n_labels, n_rows)
    model = NaiveBayes(Categorical()).fit(x, y)
    tree = model.draw(n_draws, 1, random_seed=3)
    values = tree["posterior"].to_dataset().isel(chain=0)
    probs = [values[f"x{j}_prob"].to_numpy() for j in range(n_features)]
    label_prob, probs = values["label_prob"].to_numpy()[:n_looped], [prob[:n_looped] for prob in probs]
    loop, blocks = seconds(
        lambda: loop_over_draws(x, label_prob, probs), lambda: model.predict_uncertainty(x, posterior=tree), rounds=3
    )
    loop *= n_draws / n_looped  # every draw costs the same; their quantiles, n log n, a little more than that
    print(f"{n_draws:,} draws × {n_rows:,} rows × {n_labels} labels × {n_features} categorical features")
    print(f"  loop (of {n_looped}, scaled) {loop:.1f} s, predict_uncertainty {blocks:.1f} s, ratio {loop / blocks:.1f}")


if __name__ == "__main__":
    closed_form()
    draws()
