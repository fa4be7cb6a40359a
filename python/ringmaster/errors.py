# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, with a workspace or a twin: one class for each thing a person would do differently."""


class WorkspaceError(Exception):
    """Base of all errors about a workspace. The text says what happened, where, and what to do."""


class WorkspaceAbsent(WorkspaceError):
    """No such workspace: nothing has been started under that name."""


class WorkspaceHalfMade(WorkspaceError):
    """The workspace exists but its owner has not finished making it."""


class WorkspaceVersion(WorkspaceError):
    """The workspace was made by another version or with another layout."""


class WorkspaceDead(WorkspaceError):
    """The server has ended. What it left can be read with ``attach(name, dead=True)``."""


class WorkspaceStopped(WorkspaceError):
    """The process of an owner is stopped (SIGSTOP, a debugger): what stands in memory says nothing of now."""


class WorkspaceDamaged(WorkspaceError):
    """A segment contradicts itself, or its writer was killed between two stores."""


class WorkspaceWarning(UserWarning):
    """A part of a workspace is left out, because it is damaged or not for us to read. The text names it."""


class ObjectNotFound(WorkspaceError, KeyError):
    """No object of that name, or of another kind. The text names the nearest existing name."""

    def __str__(self) -> str:
        return str(self.args[0])


class OwnerBusy(RuntimeError):
    """Another process owns the segment, and lives."""


class FramesHeld(RuntimeError):
    """All leases of a camera's frames are held, for a second. The text says how many by this reader, and what to do."""


class StreamRestarted(RuntimeError):
    """The turns of a stream have begun anew while it was recorded. The text says what to do."""


class UnitUnknown(ValueError):
    """The parameter has no such unit. The text names those that it has."""


class RequestRefused(RuntimeError):
    """The owner of a parameter did not set it. The text is its reason."""


class RequestUnanswered(RuntimeError):
    """The owner of a parameter lives and has not answered in time: it may set the parameter yet."""


class TwinError(RuntimeError):
    """Base of all errors of the digital twin. The text says what happened, at which element, and what to do."""


class LatticeAbsent(TwinError, FileNotFoundError):
    """No such lattice file."""


class LatticeInvalid(TwinError):
    """The file is no lattice, or one that no twin could track. The text names the line or the element."""


class TwinArgument(TwinError, ValueError):
    """A call cannot take this: an element that has no such strength, a 6D question to a 4D ring."""


class TwinNoAnswer(TwinError):
    """The ring as it is has no answer: it is unstable, has no closed orbit, or lost all particles."""


class SimulationError(RuntimeError):
    """A simulation did not run, or a folder does not hold what one leaves. The text says what and where."""


class ArchiveError(RuntimeError):
    """Base of all errors of an archive. The text says what happened, in which file, and what to do."""


class ArchiveAbsent(ArchiveError, FileNotFoundError):
    """No such archive, or the path is none."""


class ArchiveArgument(ArchiveError, ValueError):
    """A question that the archive cannot answer: a turn that no record has, a time that cannot be read."""


class ArchiveChanged(ArchiveError):
    """Files were removed, or stored anew, while they were read; they are looked at again at the next read."""


class ArchiveDamaged(ArchiveError):
    """A block that was asked for is damaged. The text says where."""
