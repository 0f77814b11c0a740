"""Keys of services: in the system's keyring, in an encrypted file, or for this run only."""

from .keyfile import KeyFile
from .sealed import LEAST
from .store import Asks, Place, Secrets, resolved, variable_in

__all__ = ["LEAST", "Asks", "KeyFile", "Place", "Secrets", "resolved", "variable_in"]
