"""A hub on this machine: as much of Hugging Face's HTTP API as pushing and pulling needs.

Repositories are kept in memory as {path: bytes}. It wants every file in the commit itself,
where the real hub has weights sent by Xet first, which is huggingface_hub's own business.
"""

import base64
import hashlib
import json

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOKEN = "hf_token_of_the_test"
REPO = "{owner}/{name}"


class Hub:
    """The repositories, and what was asked of them."""

    def __init__(self):
        self.repos, self.messages, self.private = {}, [], {}
        routes = [
            Route("/api/repos/create", self.create, methods=["POST"]),
            Route("/api/validate-yaml", self.validate, methods=["POST"]),
            Route(f"/api/models/{REPO}/preupload/{{rev}}", self.preupload, methods=["POST"]),
            Route(f"/api/models/{REPO}/commit/{{rev}}", self.commit, methods=["POST"]),
            Route(f"/api/models/{REPO}", self.info),
            Route(f"/api/models/{REPO}/revision/{{rev}}", self.info),
            Route(f"/api/models/{REPO}/tree/{{rev}}", self.tree),
            Route(f"/{REPO}/resolve/{{rev}}/{{path:path}}", self.resolve, methods=["GET", "HEAD"]),
        ]
        self.app = Starlette(routes=routes)

    @staticmethod
    def _name(request):
        return f"{request.path_params['owner']}/{request.path_params['name']}"

    def _files(self, request):
        return self.repos.get(self._name(request))

    @staticmethod
    def _missing(code="RepoNotFound"):
        return JSONResponse({"error": "none"}, 404, {"X-Error-Code": code})

    async def create(self, request):
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return JSONResponse({"error": "log in"}, 401)
        asked = await request.json()
        repo = f"{asked['organization']}/{asked['name']}"
        self.repos.setdefault(repo, {})
        self.private[repo] = asked.get("visibility")
        return JSONResponse({"url": f"{request.base_url}{repo}", "id": repo, "name": repo})

    async def validate(self, request):
        content = (await request.json())["content"]
        errors = [] if content.startswith("---\n") else [{"message": "no front matter"}]
        return JSONResponse({"errors": errors, "warnings": []}, 400 if errors else 200)

    async def preupload(self, request):
        files = (await request.json())["files"]
        return JSONResponse(
            {
                "files": [
                    {
                        "path": file["path"],
                        "uploadMode": "regular",
                        "shouldIgnore": False,
                        "oid": None,
                    }
                    for file in files
                ]
            }
        )

    async def commit(self, request):
        files = self._files(request)
        for line in (await request.body()).decode().splitlines():
            entry = json.loads(line)
            key, value = entry["key"], entry["value"]
            if key == "header":
                self.messages.append(value["summary"])
            elif key == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif key == "deletedFile":
                del files[value["path"]]
        url = f"{request.base_url}{self._name(request)}/commit/{'a' * 40}"
        return JSONResponse({"success": True, "commitUrl": url, "commitOid": "a" * 40})

    async def info(self, request):
        if self._files(request) is None:
            return self._missing()
        if request.path_params.get("rev", "main") not in ("main", "a" * 40):
            return self._missing("RevisionNotFound")
        siblings = [{"rfilename": path} for path in self._files(request)]
        return JSONResponse({"id": self._name(request), "sha": "a" * 40, "siblings": siblings})

    async def tree(self, request):
        if self._files(request) is None:
            return self._missing()
        return JSONResponse(
            [
                {"type": "file", "path": path, "size": len(data), "oid": git_oid(data)}
                for path, data in self._files(request).items()
            ]
        )

    async def resolve(self, request):
        data = self._files(request).get(request.path_params["path"])
        if data is None:
            return self._missing("EntryNotFound")
        headers = {"X-Repo-Commit": "a" * 40, "ETag": f'"{git_oid(data)}"'}
        return Response(data, headers=headers, media_type="application/octet-stream")


def git_oid(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
