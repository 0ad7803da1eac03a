"""NaiveBayes, the scikit-learn estimator: one class, its methods in one file for each thing that they do."""

from bayesnb.naive_bayes.estimator import NaiveBayes, load

__all__ = ["NaiveBayes", "load"]
