import hashlib
from importlib.resources import files

from bayesnb.datasets import load_penguins


def test_the_penguins_are_those_that_were_published():
    table = files("bayesnb.datasets") / "penguins.csv"
    digest = "f204db2c753b0937caac3cb35258562c14f073e4bbc76be24b4c51ce22767a93"
    assert hashlib.sha256(table.read_bytes()).hexdigest() == digest
    assert load_penguins()["species"].value_counts().to_dict() == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
