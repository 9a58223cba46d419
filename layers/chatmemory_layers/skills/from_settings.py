"""Which skill runner the settings name."""

from typing import assert_never

from chatmemory.conversation.skill_runner import SkillRunnerTag
from chatmemory.effect import Layer
from chatmemory.effect.config.config_error import ConfigError
from chatmemory.settings.memory_settings import SkillSettings, SkillSettingsTag
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.openai_compatible import openai_compatible


def chosen_skills(settings: SkillSettings) -> Layer[SkillRunnerTag, ConfigError, SkillSettingsTag]:
    """Return the layer that ``memory.skill.runner`` names."""
    match settings.runner:
        case "extractive":
            return extractive
        case "openai_compatible":
            return openai_compatible
        case _:
            assert_never(settings.runner)
