"""Errors named for what is wrong. Each message says what, where, and what to do next."""

from __future__ import annotations


class AttestError(Exception):
    """A problem that a user can mend; the command line prints it without a stack trace."""


class LakeInUseError(AttestError):
    """Another process holds the lake's embedded catalog, which admits one at a time."""


class MachineError(AttestError):
    """Something that Spark needs is missing from this machine."""


class ContractError(AttestError):
    """A feed is unknown, or its contract cannot be read."""


class LandingError(AttestError):
    """Files could not be landed; nothing of them was."""


class CaptureError(LandingError):
    """A capture is not what it says of itself, or could not be made."""


class StreamError(AttestError):
    """A stream could not go on; what it landed is landed, and the next start goes on from there."""


class MarkError(AttestError):
    """What was to be marked or cleared is not there, is so already, or nobody says why."""


class PublishError(AttestError):
    """A day cannot be published."""


class SeedError(AttestError):
    """A seed file cannot be loaded; the table still holds what it held."""


class ModelError(AttestError):
    """A model's rows break what the model declares; nothing was written."""


class NullKeyError(ModelError):
    """A row has no key, so there is nothing to replace it by."""


class RepeatedIdentityError(ModelError):
    """Two rows claim the identity that the model says belongs to one."""


class DuplicateBusinessKeyError(ModelError):
    """A slice tells a business key more than once, so nobody knows which record holds."""


class EmptySliceError(ModelError):
    """A slice without records, by which rows that the table has would be gone."""


class ProcessingTimeError(ModelError):
    """The processing time cannot be read, or does not stand after what the table has."""


class StrayKeyError(ModelError):
    """The model returned rows of keys that it was not asked to rebuild."""


class ColumnsChangedError(ModelError):
    """The model's columns are not those of its table."""


class OutOfOrderError(ModelError):
    """Assertions did not come in their total order, so no state can be told from them."""


class OvertakenError(AttestError):
    """Another writer of ours wrote the table after it was read; what it left must be read first."""


class ConflictError(AttestError):
    """Other writers came between again and again; nothing was written."""


class UnknownKeyError(AttestError):
    """No evidence speaks of the key that was asked about."""


class UnknownBasisError(AttestError):
    """No build of Silver stamped the basis that was asked about."""


class MaintenanceError(AttestError):
    """Upkeep of a table that is not there, or that would lose what somebody may still read."""


class OutputError(AttestError):
    """What was asked for cannot be written where it should go."""
