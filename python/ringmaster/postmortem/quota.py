# SPDX-License-Identifier: Apache-2.0
"""How much the events keep, and making room: the oldest reviewed events go first, and those not reviewed never."""

from pathlib import Path

from ringmaster.postmortem.catalogue import Catalogue, release_data


def kept_bytes(folder: Path) -> int:
    """Bytes below a folder, each file once however many links it has there."""
    sizes: dict[tuple[int, int], int] = {}
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if path.is_file() and not path.is_symlink():
            sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())


def make_room(catalogue: Catalogue, wanted: int, quota_bytes: int) -> int:
    """Gives back data of reviewed events, the oldest first, until ``wanted`` bytes fit. Returns how many fit now."""
    room = quota_bytes - kept_bytes(catalogue.folder)
    if room >= wanted:
        return room
    with catalogue.changing():
        for event in catalogue.events():
            if event.reviewed is None or event.released:
                continue
            release_data(event).save()
            room = quota_bytes - kept_bytes(catalogue.folder)
            if room >= wanted:
                break
    return max(0, room)
