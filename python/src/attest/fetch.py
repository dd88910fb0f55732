"""Capture what an HTTP endpoint answers: page by page to the true end, or as far as it went.

Every page is kept as it arrives, so that a capture that broke off goes on where it stopped. Only
one that saw the end of all pages, and as many records as were announced, says that it is complete.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

from attest.capture_writing import Answer, Asked, write_capture
from attest.captures import RECORD_FORMATS
from attest.contract import CAPTURE_MODES, FULL, Feed
from attest.digits import Digits, read_exactly, written
from attest.errors import ContractError
from attest.project import read_yaml, render
from attest.stage import Say, silent

SETTINGS, STATE = "captures.yml", "state.json"
STYLES = ("none", "page", "offset", "cursor")
NEEDED = ("vendor", "dataset", "data_type", "mode", "url", "records")
KNOWN = (
    *(*NEEDED, "record_format", "params", "headers", "partitions", "total", "as_of", "page"),
    *("retries", "timeout_seconds", "most_wait_seconds", "into"),
)
PAGE_KNOWN = ("style", "parameter", "size_parameter", "size", "first", "next")
SECRET = re.compile(r"(?i)token|secret|passw|api[-_]?key|authorization|cookie|credential")
MOST_BYTES, MOST_PAGES, MOST_STARTS = 256 << 20, 100_000, 3
RESUMABLE = timedelta(hours=1)
RETRIED = (408, 425, 429, 500, 502, 503, 504)

Sleep = Callable[[float], None]
Clock = Callable[[], datetime]


class Page(NamedTuple):
    """How an endpoint hands out its records, if not all at once."""

    style: str = "none"
    parameter: str = ""
    size_parameter: str = ""
    size: int = 0
    first: int = 0
    next: str = ""


@dataclass(frozen=True)
class Endpoint:
    """What to ask, and where in the answer to look; one entry of captures.yml."""

    asked: Asked
    url: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    records: str
    total: str | None
    as_of: str | None
    page: Page
    retries: int
    timeout: float
    most_wait: float
    into: Path


class Tools(NamedTuple):
    """The world outside, so that a test can be its master."""

    now: Clock = lambda: datetime.now(UTC)
    sleep: Sleep = time.sleep
    say: Say = silent


class GaveUpError(Exception):
    """The endpoint did not answer, however often it was asked; the pages so far are kept."""


class MovedError(Exception):
    """What is listed changed while its pages were read, so they do not fit together."""


# What to ask.


def read_endpoint(root: Path, name: str) -> Endpoint:
    """One entry of captures.yml. A secret stands in the environment, and only its name in the file."""
    path = root / SETTINGS
    said = read_yaml(path, remedy="Describe the endpoint there; docs/captures.md shows how.").get(name)
    if not isinstance(said, dict):
        raise ContractError(f"{path} describes no endpoint called {name!r}. Add it; docs/captures.md shows how.")
    for problem in problems(said):
        raise ContractError(f"{path}: {name}: {problem}.")
    params, headers = (texts(said.get(part)) for part in ("params", "headers"))
    page = said.get("page") or {}
    asked = Asked(
        vendor=said["vendor"],
        dataset=said["dataset"],
        data_type=said["data_type"],
        capture_mode=said["mode"],
        record_format=said.get("record_format", "jsonl.gz"),
        api_endpoint=said["url"],
        request_params=params,
        partitions=texts(said.get("partitions")),
    )
    return Endpoint(
        asked=asked,
        url=render(said["url"], path),
        params=render(params, path),
        headers=render(headers, path),
        records=said["records"],
        total=said.get("total"),
        as_of=said.get("as_of"),
        page=Page(**page),
        retries=int(said.get("retries", 5)),
        timeout=float(said.get("timeout_seconds", 30)),
        most_wait=float(said.get("most_wait_seconds", 300)),
        into=root / said.get("into", "bronze"),
    )


def texts(said: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(value) for name, value in (said or {}).items()}


def problems(said: Mapping[str, Any]) -> Iterator[str]:
    page = said.get("page") or {"style": "none"}
    missing = [name for name in NEEDED if not isinstance(said.get(name), str)]
    strange = [*(name for name in said if name not in KNOWN), *(name for name in page if name not in PAGE_KNOWN)]
    if missing:
        yield f"does not say {', '.join(missing)}"
    if strange:
        yield f"says {', '.join(strange)}, which means nothing here"
    for what, value, choices in (
        ("mode", said.get("mode"), CAPTURE_MODES),
        ("record_format", said.get("record_format", "jsonl.gz"), RECORD_FORMATS),
        ("page: style", page.get("style"), STYLES),
    ):
        if value not in choices:
            yield f"{what} is {value!r}, not {' or '.join(choices)}"
    if page.get("style") != "none" and not page.get("parameter"):
        yield "page: parameter is missing: the query parameter that asks for the next page"
    if page.get("style") == "cursor" and not page.get("next"):
        yield "page: next is missing: where the answer says how the next page is called"
    for name, value in {**(said.get("params") or {}), **(said.get("headers") or {})}.items():
        if SECRET.search(name) and "env_var" not in str(value):
            yield f"{name} holds a secret; put it in the environment, and write \"{{{{ env_var('NAME') }}}}\" here"
    if urllib.parse.urlsplit(str(said.get("url"))).scheme not in ("http", "https"):
        yield f"url is {said.get('url')!r}, no address that begins with http:// or https://"


# Asking.


@dataclass
class Progress:
    """What was answered so far, on disk too, and what asks for the rest."""

    folder: Path
    at: str = ""
    pages: int = 0
    asks: str | None = None  # the page's parameter; none: the first page
    expected: int | None = None
    effective_at: str | None = None
    done: bool = False
    records: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def capture(
    endpoint: Endpoint, feed: Feed, *, tools: Tools | None = None, restart: bool = False
) -> tuple[Path, str | None]:
    """Capture all pages as one capture; gives its folder, and why it is incomplete if it is.

    A listing that changes while it is read is asked for again from the start, a few times. One that cannot be
    had to its end leaves a capture that says that it is incomplete, and its pages to go on from.
    """
    tools = tools or Tools()
    partial = endpoint.into / f".partial-{sum_of_request(endpoint)}"
    if restart:
        shutil.rmtree(partial, ignore_errors=True)
    why: str | None = None
    for _ in range(MOST_STARTS):
        progress = resumed(partial, feed, tools.now())
        try:
            ask_for_all(endpoint, feed, progress, tools)
            why = None
            break
        except MovedError as error:
            why = f"{error}, each of {MOST_STARTS} times"
            tools.say(f"{feed.name}: {error}; asking again from the start")
            shutil.rmtree(partial)
        except GaveUpError as error:
            why = f"{error}; what there is stays, and the same command goes on from it"
            break
    answer = Answer(
        progress.records,
        captured_at=datetime.fromisoformat(progress.at) if why is None else tools.now(),
        complete=why is None,
        expected=progress.expected,
        effective_at=datetime.fromisoformat(progress.effective_at) if progress.effective_at else None,
    )
    folder = write_capture(endpoint.into, endpoint.asked, answer, feed=feed)
    if why is None:
        shutil.rmtree(partial)
    return folder, why


def sum_of_request(endpoint: Endpoint) -> str:
    """The same request goes on with the same pages; secrets are no part of it."""
    return hashlib.sha256(repr((endpoint.asked, endpoint.page)).encode()).hexdigest()[:16]


def resumed(folder: Path, feed: Feed, now: datetime) -> Progress:
    """What an earlier call left, unless it is too old to be of one moment with what follows."""
    progress = Progress(folder)
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        if now - datetime.fromisoformat(state["at"]) > RESUMABLE:
            raise ValueError
        for number in range(state["pages"]):
            for record in (folder / f"page-{number:06}").read_text(encoding="utf-8").split("\n")[:-1]:
                keep(progress, feed, record)
        return replace(progress, **state)
    except (OSError, ValueError, KeyError):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return Progress(folder)


def ask_for_all(endpoint: Endpoint, feed: Feed, progress: Progress, tools: Tools) -> None:
    """Page after page, until the endpoint says in its own way that there is no more. A short page is no end."""
    asked = {progress.asks}
    while not progress.done:
        if progress.pages == MOST_PAGES:
            raise GaveUpError(f"{endpoint.asked.api_endpoint} has more than {MOST_PAGES:,} pages")
        answer = ask(endpoint, progress.asks, tools)
        records = [written(record) for record in listed(endpoint, answer)]
        announced(endpoint, progress, answer)
        for record in records:
            if not keep(progress, feed, record) and endpoint.asked.capture_mode == FULL:
                raise MovedError("An entity is on two pages, so the listing moved while it was read")
        follow(endpoint, progress, answer, len(records))
        if not progress.done and progress.asks in asked and records:
            raise MovedError(f"Page {progress.asks!r} is said to follow itself")
        asked.add(progress.asks)
        (progress.folder / f"page-{progress.pages:06}").write_text("".join(f"{one}\n" for one in records), "utf-8")
        progress.pages, progress.at = progress.pages + 1, tools.now().isoformat()
        state = {name: getattr(progress, name) for name in ("at", "pages", "asks", "expected", "effective_at", "done")}
        (progress.folder / STATE).write_text(json.dumps(state), encoding="utf-8")
        tools.say(f"{feed.name}: {progress.pages:,} pages, {len(progress.records):,} records")


def keep(progress: Progress, feed: Feed, record: str) -> bool:
    """Add a record; false if its entity has one already."""
    members = read_exactly(record)
    named = [members.get(name) for name in feed.key_fields] if isinstance(members, dict) else [record]
    key, before = repr(named), len(progress.keys)
    progress.records.append(record)
    progress.keys.add(key)
    return len(progress.keys) > before


def announced(endpoint: Endpoint, progress: Progress, answer: Any) -> None:
    """How many there are, and of when, by the endpoint's own word."""
    if endpoint.total is not None:
        told = dig(answer, endpoint.total)
        if not isinstance(told, Digits) or not told.isdigit():
            raise GaveUpError(f"The answer has no count at {endpoint.total}: correct total in {SETTINGS}")
        if progress.expected not in (None, int(told)):
            raise MovedError(f"There were {progress.expected} records, and now there are {told}")
        progress.expected = int(told)
    if endpoint.as_of is not None and progress.effective_at is None:
        told = dig(answer, endpoint.as_of)
        try:
            at = datetime.fromisoformat(str(told))
        except ValueError:
            at = datetime.min
        if at.tzinfo is None:
            raise GaveUpError(f"The answer has no time with a zone at {endpoint.as_of}: correct as_of in {SETTINGS}")
        progress.effective_at = at.astimezone(UTC).isoformat()


def follow(endpoint: Endpoint, progress: Progress, answer: Any, got: int) -> None:
    """What asks for the next page, or that this was the last."""
    page, count, expected = endpoint.page, len(progress.records), progress.expected
    if page.style == "none":
        progress.done = True
    elif page.style == "cursor":
        told = dig(answer, page.next)
        progress.done = told in (None, "", False)
        progress.asks = None if progress.done else str(told)
    else:
        progress.done = count == expected or got == 0
        progress.asks = str(count + page.first if page.style == "offset" else page.first + progress.pages + 1)
    if expected is not None and (count > expected or (progress.done and count < expected)):
        raise MovedError(f"There are {count} records where {expected} were announced")


def listed(endpoint: Endpoint, answer: Any) -> list[Any]:
    records = dig(answer, endpoint.records)
    if not isinstance(records, list):
        raise GaveUpError(f"The answer has no list at {endpoint.records!r}: correct records in {SETTINGS}")
    return records


def dig(answer: Any, path: str) -> Any:
    """A member of a member, as in data.items; an empty path is the answer itself."""
    for name in filter(None, path.split(".")):
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer


# One request.


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A secret that is meant for one address goes to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


class AgainError(Exception):
    """What may go better the next time, and when that may be."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


def ask(endpoint: Endpoint, asks: str | None, tools: Tools) -> Any:
    """One page, asked for again with growing patience where that may help."""
    for attempt in range(endpoint.retries + 1):
        try:
            return answer_of(endpoint, asks, tools.now())
        except AgainError as error:
            wait = min(2.0**attempt, 60) if error.wait is None else error.wait
            if attempt == endpoint.retries:
                raise GaveUpError(f"{endpoint.asked.api_endpoint} {error}, {attempt + 1} times in a row") from None
            if wait > endpoint.most_wait:
                raise GaveUpError(f"{endpoint.asked.api_endpoint} asks to wait {wait:.0f} seconds") from None
            tools.say(f"{endpoint.asked.api_endpoint} {error}; asking again in {wait:.0f} s")
            tools.sleep(wait)
    raise AssertionError


def answer_of(endpoint: Endpoint, asks: str | None, now: datetime) -> Any:
    page = endpoint.page
    params = dict(endpoint.params)
    if page.size_parameter:
        params[page.size_parameter] = str(page.size)
    if page.style in ("page", "offset") or asks is not None:
        params[page.parameter] = asks if asks is not None else str(page.first)
    url = f"{endpoint.url}{'&' if '?' in endpoint.url else '?'}{urllib.parse.urlencode(params)}"
    request = urllib.request.Request(url, headers={"Accept": "application/json", **endpoint.headers})
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=endpoint.timeout) as response:
            body = response.read(MOST_BYTES + 1)
            if response.length:
                raise AgainError(f"broke off {response.length} bytes before its end")
    except urllib.error.HTTPError as error:
        if error.code in RETRIED:
            raise AgainError(f"answered {error.code}", wait_of(error.headers.get("Retry-After"), now)) from None
        raise GaveUpError(f"{endpoint.asked.api_endpoint} answered {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise AgainError(f"gave no whole answer ({type(error).__name__})") from None
    if len(body) > MOST_BYTES:
        raise GaveUpError(
            f"{endpoint.asked.api_endpoint} answers more than {MOST_BYTES:,} bytes: ask for smaller pages"
        )
    try:
        return read_exactly(body)
    except (ValueError, RecursionError):
        raise AgainError("answered what is no JSON") from None


def wait_of(told: str | None, now: datetime) -> float | None:
    """Retry-After: a number of seconds, or a time."""
    if told is None:
        return None
    if told.isdigit():
        return float(told)
    try:
        return max(0.0, (parsedate_to_datetime(told) - now).total_seconds())
    except (ValueError, TypeError):
        return None
