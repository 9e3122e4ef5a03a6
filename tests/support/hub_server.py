"""A server on loopback that speaks the part of the Hugging Face hub's HTTP that sharing a run uses.

Large files go to a storage of another origin, as the hub's do: the client must not send its token there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

WRITER, READER, STRANGER = "hf_" + "w" * 24, "hf_" + "r" * 24, "hf_" + "s" * 24
"""Tokens: of ``me`` with write access, of ``me`` without, and of ``somebody``."""
USERS = {WRITER: "me", READER: "me", STRANGER: "somebody"}

_LARGE = re.compile(r"\.(zip|mp4|safetensors|parquet|bin)$")
"""Files that the hub keeps in its storage, by the ``.gitattributes`` that it writes into a new repository."""

Files = dict[str, bytes]


@dataclass
class Repository:
    """A model repository: its revisions, oldest first, by commit."""

    private: bool = False
    gated: bool = False
    revisions: dict[str, Files] = field(default_factory=dict)

    def add(self, files: Files) -> str:
        """Add a revision with these files and return its commit."""
        text = repr((len(self.revisions), sorted(files.items())))
        commit = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self.revisions[commit] = files
        return commit

    @property
    def files(self) -> Files:
        """Files of the newest revision."""
        return next(reversed(self.revisions.values()))

    def commit_of(self, revision: str) -> str | None:
        """Return the commit that a revision names."""
        if revision == "main":
            return next(reversed(self.revisions))
        return revision if revision in self.revisions else None


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    method: str
    path: str
    token: str | None
    agent: str


class HubServer:
    """The server, running while entered.

    Attributes:
        url: its address.
        repositories: by ``USER/NAME``.
        stored: large files by their SHA-256.
        asked: all requests.
        xet_folder: the storage of clients that upload by Xet; only they can read it. None for a hub without.
        fail: takes method and path, and returns the status to answer with, 0 to break the connection off, or None.
    """

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        port = self._server.server_address[1]
        self.url, self.storage = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
        self.repositories: dict[str, Repository] = {}
        self.stored: dict[str, bytes] = {}
        self.asked: list[Asked] = []
        self.xet_folder: Path | None = None
        self.fail: Callable[[str, str], int | None] = lambda method, path: None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def paths(self, method: str) -> list[str]:
        """Return the paths of the requests with a method."""
        return [one.path for one in self.asked if one.method == method]


class _Server(ThreadingHTTPServer):
    owner: HubServer
    daemon_threads = True


class _RefusalError(Exception):
    def __init__(self, status: int, message: str, code: str = "", **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers | ({"X-Error-Code": code} if code else {}) | {"X-Error-Message": message}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._handle("GET")

    def do_HEAD(self) -> None:
        self._handle("HEAD")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_PUT(self) -> None:
        self._handle("PUT")

    def _handle(self, method: str) -> None:
        hub, parts = self.server.owner, urlsplit(self.path)
        path, query = unquote(parts.path), parse_qs(parts.query)
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ") or None
        hub.asked.append(Asked(method, path, token, self.headers.get("user-agent", "")))
        body = self._body()
        status = hub.fail(method, path)
        if status == 0:
            self.close_connection = True
            return
        try:
            if status is not None:
                raise _RefusalError(status, "it is so for now")
            for pattern, answer in _ROUTES[method].items():
                if found := re.fullmatch(pattern, path):
                    answer(self, hub, token, query, body, **found.groupdict())
                    return
            raise _RefusalError(404, f"no such address: {method} {path}")
        except _RefusalError as refusal:
            self._send(refusal.status, {"error": str(refusal)}, refusal.headers)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def _send(self, status: int, content: Any, headers: Mapping[str, str] | None = None) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    # What the hub answers -------------------------------------------------------------------------------------------

    def create(self, hub: HubServer, token: str | None, query: Any, body: bytes) -> None:
        asked = json.loads(body)
        name = f"{asked['organization']}/{asked['name']}"
        self._may_write(token, name)
        if name in hub.repositories:
            raise _RefusalError(409, "You already created this model repo")
        made = hub.repositories[name] = Repository(private=asked.get("visibility") == "private")
        made.add({".gitattributes": b"*.zip filter=lfs diff=lfs merge=lfs -text\n"})
        self._send(200, {"url": f"{hub.url}/{name}", "name": name, "private": made.private})

    def info(
        self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str, revision: str = "main"
    ) -> None:
        repository, commit = self._found(hub, token, name, revision)
        siblings = []
        for path, content in repository.revisions[commit].items():
            one: dict[str, Any] = {"rfilename": path}
            if "blobs" in query:
                one |= {"size": len(content), "blobId": _git_hash(content)}
            siblings.append(one)
        about = {"id": name, "modelId": name, "sha": commit, "private": repository.private, "siblings": siblings}
        self._send(200, {**about, "tags": [], "downloads": 0, "likes": 0, "gated": repository.gated})

    def validate_yaml(self, hub: HubServer, token: str | None, query: Any, body: bytes) -> None:
        head = json.loads(body)["content"].split("---\n")[1]
        try:
            data = yaml.safe_load(head)
        except yaml.YAMLError as error:
            self._send(400, {"errors": [{"message": str(error)}], "warnings": []})
            return
        missing = [] if "license" in data else [{"message": "empty or missing license"}]
        self._send(200, {"errors": [], "warnings": missing})

    def preupload(
        self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str, revision: str
    ) -> None:
        self._may_write(token, name)
        repository, commit = self._found(hub, token, name, revision)
        modes = []
        for file in json.loads(body)["files"]:
            there = repository.revisions[commit].get(file["path"])
            large = _LARGE.search(file["path"]) is not None
            oid = None if there is None else hashlib.sha256(there).hexdigest() if large else _git_hash(there)
            mode = "lfs" if large else "regular"
            modes.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self._send(200, {"files": modes})

    def xet_token(
        self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str, revision: str
    ) -> None:
        self._may_write(token, name)
        if hub.xet_folder is None:
            raise _RefusalError(404, "no Xet here")
        self._send(200, {"casUrl": f"local://{hub.xet_folder}", "accessToken": "xet", "exp": int(time.time()) + 3600})

    def batch(self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str) -> None:
        self._may_write(token, name)
        asked = json.loads(body)
        assert (asked["operation"], asked["hash_algo"]) == ("upload", "sha256")
        objects = []
        for one in asked["objects"]:
            upload = {"href": f"{hub.storage}/storage/{one['oid']}?X-Signature=abc"}
            verify = {"href": f"{hub.url}/verify/{name}"}
            actions = {} if one["oid"] in hub.stored else {"actions": {"upload": upload, "verify": verify}}
            objects.append({**one, **actions})
        self._send(200, {"transfer": "basic", "objects": objects})

    def store(self, hub: HubServer, token: str | None, query: Any, body: bytes, *, oid: str) -> None:
        if token is not None or query != {"X-Signature": ["abc"]}:
            raise _RefusalError(400, "only the signature may come here")
        if hashlib.sha256(body).hexdigest() != oid:
            raise _RefusalError(400, "the content is another one")
        hub.stored[oid] = body
        self._send(200, b"")

    def verify(self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str) -> None:
        asked = json.loads(body)
        if len(hub.stored[asked["oid"]]) != asked["size"]:
            raise _RefusalError(400, "the size is another one")
        self._send(200, {})

    def commit(self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str, revision: str) -> None:
        self._may_write(token, name)
        repository, commit = self._found(hub, token, name, revision)
        files = dict(repository.revisions[commit])
        header, *changes = [json.loads(line) for line in body.splitlines()]
        assert header["key"] == "header" and header["value"]["summary"]
        for change in changes:
            value = change["value"]
            if change["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif change["key"] == "lfsFile":
                if value["oid"] not in hub.stored and hub.xet_folder is None:
                    raise _RefusalError(400, "LFS pointer pointed to a file that does not exist")
                files[value["path"]] = hub.stored.get(value["oid"], b"")
            else:
                del files[value["path"]]
        made = repository.add(files)
        self._send(200, {"success": True, "commitOid": made, "commitUrl": f"{hub.url}/{name}/commit/{made}"})

    def resolve(
        self, hub: HubServer, token: str | None, query: Any, body: bytes, *, name: str, revision: str, path: str
    ) -> None:
        repository, commit = self._found(hub, token, name, revision)
        content = repository.revisions[commit].get(path)
        headers = {"X-Repo-Commit": commit}
        if content is None:
            raise _RefusalError(404, "Entry not found", "EntryNotFound", **headers)
        if _LARGE.search(path) is None:
            self._send(200, content, {**headers, "ETag": f'"{_git_hash(content)}"'})
            return
        oid = hashlib.sha256(content).hexdigest()
        hub.stored[oid] = content
        linked = {"X-Linked-Etag": f'"{oid}"', "X-Linked-Size": str(len(content))}
        self._send(302, b"", {**headers, **linked, "Location": f"{hub.storage}/storage/{oid}?X-Signature=abc"})

    def stored(self, hub: HubServer, token: str | None, query: Any, body: bytes, *, oid: str) -> None:
        if token is not None:
            raise _RefusalError(400, "no token may come here")
        content = hub.stored[oid]
        first = int((self.headers.get("range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
        ranges = {"Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}"} if first else {}
        self._send(206 if first else 200, content[first:], {"ETag": f'"{oid}"', **ranges})

    def _may_write(self, token: str | None, name: str) -> None:
        if token is None:
            raise _RefusalError(401, "Invalid username or password.")
        self._user(token)
        if token == READER or USERS[token] != name.partition("/")[0]:
            raise _RefusalError(403, f"You don't have the rights to create a model under the namespace {name}")

    def _user(self, token: str | None) -> str | None:
        if token is not None and token not in USERS:
            raise _RefusalError(401, "Invalid credentials in Authorization header")
        return USERS.get(token or "")

    def _found(self, hub: HubServer, token: str | None, name: str, revision: str) -> tuple[Repository, str]:
        user, repository = self._user(token), hub.repositories.get(name)
        hidden = repository is not None and repository.private and user != name.partition("/")[0]
        if repository is None or hidden:
            raise _RefusalError(404 if user else 401, "Repository not found", "RepoNotFound")
        if repository.gated:
            raise _RefusalError(403, "Access to this model is restricted", "GatedRepo")
        commit = repository.commit_of(revision)
        if commit is None:
            raise _RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return repository, commit


def _git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


_NAME = r"(?P<name>[^/]+/[^/]+)"
_REVISION = r"(?P<revision>[^/]+|refs/.+)"
_OID = r"(?P<oid>[0-9a-f]{64})"
_RESOLVE = rf"/{_NAME}/resolve/(?P<revision>[^/]+)/(?P<path>.+)"
_ROUTES: dict[str, dict[str, Callable[..., None]]] = {
    "GET": {
        rf"/api/models/{_NAME}": _Handler.info,
        rf"/api/models/{_NAME}/revision/{_REVISION}": _Handler.info,
        rf"/api/models/{_NAME}/xet-write-token/{_REVISION}": _Handler.xet_token,
        _RESOLVE: _Handler.resolve,
        rf"/storage/{_OID}": _Handler.stored,
    },
    "HEAD": {_RESOLVE: _Handler.resolve, rf"/storage/{_OID}": _Handler.stored},
    "POST": {
        "/api/repos/create": _Handler.create,
        "/api/validate-yaml": _Handler.validate_yaml,
        rf"/api/models/{_NAME}/preupload/{_REVISION}": _Handler.preupload,
        rf"/api/models/{_NAME}/commit/{_REVISION}": _Handler.commit,
        rf"/{_NAME}\.git/info/lfs/objects/batch": _Handler.batch,
        rf"/verify/{_NAME}": _Handler.verify,
    },
    "PUT": {rf"/storage/{_OID}": _Handler.store},
}
