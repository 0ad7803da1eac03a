"""ARCHITECTURE.md tells the truth: the names that it uses exist, and imports run one way."""

import ast
import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
ROOMS = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
NAMES = sorted({name for name in re.findall(r"`([\w.]+)`", PAGE) if name.split(".")[0] in ROOMS})


def rooms_on_disk():
    return {path.stem for path in (ROOT / "bayesnb").iterdir() if path.suffix == ".py" or path.is_dir()} - {
        "__init__",
        "__pycache__",
    }


def imported_rooms(room):
    """Rooms that the files of a room import, inside functions too."""
    path = ROOT / "bayesnb" / room
    files = path.glob("*.py") if path.is_dir() else [path.with_suffix(".py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    names = [f"{node.module}.{alias.name}" for node in imports for alias in node.names]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("bayesnb.")} & set(ROOMS)


def test_the_table_of_rooms_is_complete():
    assert set(ROOMS) == rooms_on_disk()
    assert len(ROOMS) == len(set(ROOMS))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_above_it(room):
    above = set(ROOMS[: ROOMS.index(room)])
    assert imported_rooms(room) - {room} <= above


@pytest.mark.parametrize("name", NAMES)
def test_a_name_on_the_page_exists(name):
    room, *attributes = name.split(".")
    module = importlib.import_module(f"bayesnb.{room}")
    assert reduce(getattr, attributes, module) is not None


def test_the_page_names_enough_to_be_worth_the_test():
    assert len([name for name in NAMES if "." in name]) >= 10
