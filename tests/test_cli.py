import pytest

from bayesnb.cli import main


def test_no_command_is_told_what_there_is(capsys):
    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "command" in capsys.readouterr().err
