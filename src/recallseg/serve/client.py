"""A small client of `recallseg serve`; it needs no model and no PyTorch."""

import base64
import binascii
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path, check_regular

LONGEST_ANSWER = 400_000_000
"""Bytes after which a server that keeps answering is not believed."""
PNG_START = b"\x89PNG\r\n\x1a\n"


class Asker:
    """Asks one server about photos, again after a pause when it is busy."""

    def __init__(
        self, url: str, token: str | None = None, seconds: float = 60.0, attempts: int = 5
    ) -> None:
        self.url, self.attempts = url.rstrip("/"), attempts
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(headers=headers, timeout=seconds, follow_redirects=False)

    def __enter__(self) -> "Asker":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def ask(self, photo: Path, fields: Mapping[str, str]) -> dict[str, Any]:
        """What the server's model sees in a photo, as the answer's JSON."""
        try:
            check_regular(photo)
            data = photo.read_bytes()
        except OSError as error:
            raise RecallsegError(f"{photo} cannot be read: {error.strerror}.") from error
        for attempt in range(1, self.attempts + 1):
            code, wait, answer = self._post(photo.name, data, fields)
            if code == 200 and isinstance(answer.get("steps"), list):
                return answer
            if code not in (429, 503) or attempt == self.attempts:
                detail = str(answer.get("detail", "no reason given"))[:500]
                raise RecallsegError(f"{self.url} answered {code} for {photo}: {detail}")
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _post(
        self, name: str, data: bytes, fields: Mapping[str, str]
    ) -> tuple[int, float, dict[str, Any]]:
        """The code, the pause that is asked for, and the answer."""
        files = {"file": (name, data)}
        try:
            with self._http.stream(
                "POST", f"{self.url}/predict", files=files, data=dict(fields)
            ) as response:
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > LONGEST_ANSWER:
                        raise RecallsegError(f"The answer of {self.url} does not end.")
                wait = response.headers.get("Retry-After", "2")
                answer = json.loads(body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RecallsegError(
                f"{self.url} cannot be asked ({error or type(error).__name__}); is `recallseg "
                "serve` running there?"
            ) from error
        except ValueError as error:
            raise RecallsegError(
                f"{self.url} answered with something else than JSON; is it `recallseg serve`?"
            ) from error
        seconds = min(60.0, float(wait)) if wait.isdecimal() else 2.0
        return response.status_code, seconds, answer if isinstance(answer, dict) else {}


def save_mask(step: Mapping[str, Any], path: Path) -> None:
    """Write the mask of a step of an answer: a palette PNG whose values are channels."""
    _, _, text = str(step.get("mask", "")).partition("base64,")
    try:
        png = base64.b64decode(text, validate=True)
    except binascii.Error:
        png = b""
    if not png.startswith(PNG_START):
        raise RecallsegError("The server's answer holds no mask; it may be of another version.")
    with atomic_path(path) as temporary:
        temporary.write_bytes(png)
