# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a workspace, one class for each thing a person would do differently."""


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


class WorkspaceDamaged(WorkspaceError):
    """A segment contradicts itself, or its writer was killed between two stores."""


class ObjectNotFound(WorkspaceError, KeyError):
    """No object of that name, or of another kind. The text names the nearest existing name."""

    def __str__(self) -> str:
        return str(self.args[0])
