"""What users of the Microsoft Agent Framework catch."""

from typing import Final

from agent_framework.exceptions import IntegrationException, IntegrationInvalidRequestException

from chatmemory.integrations.raising import Raising

RAISING: Final = Raising(
    refused=IntegrationInvalidRequestException, failed=IntegrationException, closed=IntegrationException
)
