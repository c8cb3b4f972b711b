"""What a Kubernetes API server keeps: objects, their versions, who owns which field, what changed.

It is honest where a client could notice: versions are checked, server-side apply finds conflicts,
old versions are forgotten. It generates nothing by itself: no controller, scheduler or kubelet
runs, and what is deleted is gone at once.
"""

import copy
import itertools
import json
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.fakes.kubernetes_resources import RESOURCES, Json, Key, Refused, Resource
from tests.fakes.kubernetes_selectors import fields_match, labels_match

Path = tuple[str, ...]


KEPT = ("name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion")
"""What the server sets, and no writer."""


@dataclass(frozen=True)
class Change:
    """One thing that happened to one object; `before` or `after` is None where it was not there."""

    version: int
    before: Json | None
    after: Json | None

    def event(self, wanted: Callable[[Json], bool]) -> Json | None:
        """What a watcher that wants only some objects is told; None for nothing."""
        was = self.before is not None and wanted(self.before)
        is_now = self.after is not None and wanted(self.after)
        if not was and not is_now:
            return None
        kind = "MODIFIED" if was and is_now else "ADDED" if is_now else "DELETED"
        shown = self.after if self.after is not None else _versioned(self.before, self.version)
        return {"type": kind, "object": shown}


@dataclass
class Collection:
    """All objects of one resource, and what lately happened to them."""

    objects: dict[Key, Json] = field(default_factory=dict)
    owners: dict[Key, dict[str, set[Path]]] = field(default_factory=dict)
    changes: deque[Change] = field(default_factory=lambda: deque(maxlen=100_000))
    forgotten: int = 0


@dataclass(frozen=True)
class Page:
    """A list, or a part of one, as of one version."""

    items: list[Json]
    version: int
    token: str = ""
    remaining: int = 0


class ObjectStore:
    """Objects by resource; every write is one version later than the one before."""

    def __init__(self, resources: tuple[Resource, ...] = RESOURCES) -> None:
        self.resources = list(resources)
        self.changed = threading.Condition(threading.RLock())
        self.version = 1
        self._collections: dict[Resource, Collection] = {}
        self._pages: dict[str, tuple[int, list[Json]]] = {}
        self._tokens = itertools.count(1)

    def of(self, resource: Resource) -> Collection:
        """Everything of one resource."""
        return self._collections.setdefault(resource, Collection())

    def get(self, resource: Resource, key: Key) -> Json:
        """One object; 404 if it is not there."""
        with self.changed:
            found = self.of(resource).objects.get(key)
        if found is None:
            raise Refused(404, "NotFound", f'{resource.plural} "{key[1]}" not found')
        return found

    def page(self, resource: Resource, wanted: Callable[[Json], bool], limit: int) -> Page:
        """The first part of a list; the rest is kept as it is now."""
        with self.changed:
            objects = self.of(resource).objects
            items = [one for _, one in sorted(objects.items()) if wanted(one)]
            return self._cut(items, self.version, limit)

    def next_page(self, token: str, limit: int) -> Page:
        """The next part of a list that was begun; 410 if that is too long ago."""
        with self.changed:
            if token not in self._pages:
                raise Refused(410, "Expired", "The provided continue parameter is too old")
            version, items = self._pages[token]
            return self._cut(items, version, limit)

    def changes_since(self, resource: Resource, version: int) -> list[Change]:
        """What happened after a version, oldest first; 410 if that is forgotten."""
        with self.changed:
            collection = self.of(resource)
            if version < collection.forgotten:
                raise Refused(410, "Expired", f"too old resource version: {version}")
            newest_first = itertools.takewhile(
                lambda change: change.version > version, reversed(collection.changes)
            )
            return list(newest_first)[::-1]

    def forget(self) -> None:
        """Forget all versions but the current one, as a compaction does."""
        with self.changed:
            self.version += 1
            self._pages.clear()
            for collection in self._collections.values():
                collection.changes.clear()
                collection.forgotten = self.version
            self.changed.notify_all()

    def create(self, resource: Resource, body: Json, manager: str, *, dry: bool = False) -> Json:
        """A new object; 409 if there is one of this name."""
        made = copy.deepcopy(body)
        made.setdefault("apiVersion", resource.api_version)
        made.setdefault("kind", resource.kind)
        metadata = made.setdefault("metadata", {})
        if "name" not in metadata and "generateName" in metadata:
            metadata["name"] = metadata["generateName"] + uuid.uuid4().hex[:5]
        if not metadata.get("name"):
            raise Refused(422, "Invalid", "name or generateName is required")
        key = key_of(made)
        with self.changed:
            if key in self.of(resource).objects:
                raise Refused(409, "AlreadyExists", f'{resource.plural} "{key[1]}" already exists')
            metadata["uid"] = str(uuid.uuid4())
            metadata["generation"] = 1
            metadata.setdefault(
                "creationTimestamp", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            )
            return self._commit(resource, key, made, {manager: leaves(body)}, dry=dry)

    def replace(
        self, resource: Resource, key: Key, body: Json, manager: str, *, dry: bool = False
    ) -> Json:
        """The object as given; 409 if it was read before someone else wrote."""
        with self.changed:
            before = self.get(resource, key)
            check_version(resource, before, body)
            made = {"apiVersion": before["apiVersion"], "kind": before["kind"]}
            made |= copy.deepcopy(body)
            for name in KEPT:
                if name in before["metadata"]:
                    made.setdefault("metadata", {})[name] = before["metadata"][name]
            if made == before:
                return before
            if made.get("spec") != before.get("spec"):
                made["metadata"]["generation"] = before["metadata"].get("generation", 1) + 1
            owners = copy.deepcopy(self.of(resource).owners.get(key, {}))
            written = {
                path for path in leaves(made) | leaves(before) if at(made, path) != at(before, path)
            }
            for one in owners.keys() - {manager}:
                owners[one] -= written
            owners.setdefault(manager, set()).update(written & leaves(made))
            return self._commit(resource, key, made, owners, dry=dry)

    def apply(
        self,
        resource: Resource,
        key: Key,
        body: Json,
        manager: str,
        *,
        force: bool = False,
        dry: bool = False,
    ) -> Json:
        """Server-side apply: what the manager no longer names goes; 409 on others' fields."""
        with self.changed:
            before = self.of(resource).objects.get(key)
            if before is None:
                return self.create(resource, body, manager, dry=dry)
            check_version(resource, before, body)
            named = {path for path in leaves(body) if not _is_there(before, body, path)}
            owners = copy.deepcopy(self.of(resource).owners.get(key, {}))
            conflicts = [
                (other, path)
                for other, paths in sorted(owners.items())
                for path in sorted(paths & named)
                if other != manager and at(before, path) != at(body, path)
            ]
            if conflicts and not force:
                raise _apply_conflict(conflicts)
            for other, path in conflicts:
                owners[other].discard(path)
            others = set().union(*(paths for one, paths in owners.items() if one != manager))
            made = copy.deepcopy(before)
            for path in owners.get(manager, set()) - named - others:
                remove(made, path)
            for path in named:
                put(made, path, copy.deepcopy(at(body, path)))
            owners[manager] = named
            if made.get("spec") != before.get("spec"):
                made["metadata"]["generation"] = before["metadata"].get("generation", 1) + 1
            if made == before:
                self.of(resource).owners[key] = owners
                return before
            return self._commit(resource, key, made, owners, dry=dry)

    def delete(self, resource: Resource, key: Key, preconditions: Mapping[str, str]) -> Json:
        """The object goes; 409 if it is not the one that was meant."""
        with self.changed:
            before = self.get(resource, key)
            for name, value in preconditions.items():
                if before["metadata"].get(name) != value:
                    raise Refused(409, "Conflict", f"precondition failed: {name} is not {value}")
            collection = self.of(resource)
            self.version += 1
            del collection.objects[key]
            collection.owners.pop(key, None)
            collection.changes.append(Change(self.version, before, None))
            self.changed.notify_all()
            return before

    def _cut(self, items: list[Json], version: int, limit: int) -> Page:
        if not limit or len(items) <= limit:
            return Page(items, version)
        token = f"token-{next(self._tokens)}"
        self._pages[token] = (version, items[limit:])
        return Page(items[:limit], version, token, len(items) - limit)

    def _commit(
        self,
        resource: Resource,
        key: Key,
        made: Json,
        owners: dict[str, set[Path]],
        *,
        dry: bool,
    ) -> Json:
        if dry:
            return made
        collection = self.of(resource)
        self.version += 1
        made["metadata"]["resourceVersion"] = str(self.version)
        before = collection.objects.get(key)
        collection.objects[key] = made
        collection.owners[key] = owners
        collection.changes.append(Change(self.version, before, made))
        self.changed.notify_all()
        return made


def key_of(body: Json) -> Key:
    """Namespace and name."""
    return body["metadata"].get("namespace", ""), body["metadata"]["name"]


def wants(namespace: str, labels: str, fields: str) -> Callable[[Json], bool]:
    """Whether an object is in a namespace (all, if empty) and fits both selectors."""

    def wanted(one: Json) -> bool:
        metadata = one["metadata"]
        return (
            namespace in {"", metadata.get("namespace", "")}
            and labels_match(labels, metadata.get("labels") or {})
            and fields_match(fields, one)
        )

    return wanted


def check_version(resource: Resource, before: Json, body: Json) -> None:
    """409 if the writer has read an older object."""
    version = body.get("metadata", {}).get("resourceVersion")
    if version and version != before["metadata"]["resourceVersion"]:
        raise Refused(
            409,
            "Conflict",
            f'Operation cannot be fulfilled on {resource.plural} "{before["metadata"]["name"]}": '
            "the object has been modified; please apply your changes to the latest version",
        )


def merged(target: Any, patch: Any) -> Any:
    """A merge patch applied (RFC 7396)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def leaves(body: Json) -> set[Path]:
    """The paths of all values that a writer can own; lists are owned whole."""
    own = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
    own |= {("metadata", "resourceVersion"), ("metadata", "uid"), ("metadata", "generation")}
    own |= {("metadata", "creationTimestamp"), ("metadata", "managedFields")}
    return set(_leaves(body)) - own


def at(body: Any, path: Path) -> Any:
    """The value at a path, None if there is none."""
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def put(body: Json, path: Path, value: Any) -> None:
    """Set the value at a path."""
    for name in path[:-1]:
        if not isinstance(body.get(name), dict):
            body[name] = {}
        body = body[name]
    body[path[-1]] = value


def remove(body: Json, path: Path) -> None:
    """Take the value at a path away, and what becomes empty by that."""
    parent = at(body, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)
        if not parent and len(path) > 1:
            remove(body, path[:-1])


def _leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif path:
        yield path


def _is_there(before: Json, body: Json, path: Path) -> bool:
    """Whether what is asked for is an empty map where there is a map already."""
    return at(body, path) == {} and isinstance(at(before, path), dict)


def _versioned(body: Json | None, version: int) -> Json:
    made = json.loads(json.dumps(body))
    made["metadata"]["resourceVersion"] = str(version)
    return made  # type: ignore[no-any-return]


def _apply_conflict(conflicts: list[tuple[str, Path]]) -> Refused:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{manager}"',
            "field": "." + ".".join(path),
        }
        for manager, path in conflicts
    ]
    return Refused(409, "Conflict", f"Apply failed with {len(conflicts)} conflicts", causes)
