"""The container files, where no builder is at hand: what they install, set and start is what is there."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from chatmemory.effect import Success
from chatmemory_layers.configuration import read_settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def test_the_image_installs_extras_that_exist_and_keeps_what_the_wheel_is_built_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"\.whl\)\[([\w,-]+)\]", DOCKERFILE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"chatmemory", "layers", "pyproject.toml", "README.md", "LICENSE"} & set(left_out)


def test_the_server_takes_the_words_and_the_settings_that_it_is_started_with() -> None:
    (standing,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    for words in (json.loads(standing), COMPOSE["services"]["server"]["command"]):
        command = [Path(sys.executable).with_name("chatmemory"), words[0], "--help"]
        told = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
        assert {word for word in words if word.startswith("--")} <= set(re.findall(r"--[\w-]+", told))
    given = COMPOSE["services"]["server"]["environment"].items()
    settings = read_settings(
        environment={name: value for name, value in given if name.startswith("CHATMEMORY_")}
    )
    assert isinstance(settings, Success)
    found = settings.unwrap()
    assert found.memory.store.backend == "postgres"
    assert found.memory.store.postgres.dsn.endswith("@postgres/chatmemory")
    assert set(COMPOSE["services"]["server"]["depends_on"]) <= set(COMPOSE["services"])
