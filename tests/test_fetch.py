"""attest capture against an HTTP server of this machine that misbehaves: it drops, limits, lies, and moves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attest.captures import find_captures, texts_in
from attest.cli import main
from attest.errors import ContractError
from attest.fetch import Endpoint, Tools, capture, read_endpoint
from engine import ROOT, contract

LISTINGS = contract("listings")
SYMBOLS = [f"S{number}" for number in range(10)]
DIGITS = "0.010"
SECRET = "hush-hush"
Query = dict[str, str]
Answer = Callable[[Query], Any]


class Broken(Exception):
    """What the server does instead of answering."""

    def __init__(self, what: str, **headers: str) -> None:
        super().__init__(what)
        self.what = what
        self.headers = headers


class Source:
    """A vendor's listing, page by page; `trouble` is met once each, by the number of the request."""

    def __init__(self) -> None:
        self.symbols = list(SYMBOLS)
        self.trouble: dict[int, Broken | Callable[[], None]] = {}
        self.asked: list[Query] = []
        self.tokens: set[str | None] = set()
        self.style = "page"
        self.gives: dict[int, int] = {}
        self.url = ""

    def answer(self, query: Query) -> dict[str, Any]:
        self.asked.append(query)
        trouble = self.trouble.pop(len(self.asked), None)
        if isinstance(trouble, Broken):
            raise trouble
        if trouble is not None:
            trouble()
        size = int(query.get("size", "100"))
        first = {
            "none": 0,
            "page": (int(query.get("p", "1")) - 1) * size,
            "offset": int(query.get("p", "0")),
            "cursor": int(query.get("p", "0")),
        }[self.style]
        size = self.gives.get(len(self.asked), size)
        items = [{"symbol": symbol, "tick_size": DIGITS} for symbol in self.symbols[first : first + size]]
        after = first + len(items)
        following = str(after) if after < len(self.symbols) else None
        return {
            "data": {"items": items, "total": len(self.symbols), "next": following, "at": "2026-03-01T09:00:00+01:00"}
        }


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("LISTINGS_TOKEN", SECRET)
    there = Source()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            there.tokens.add(self.headers.get("Authorization"))
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            self.close_connection = True
            try:
                body, status, headers = json.dumps(there.answer(query)).replace(f'"{DIGITS}"', DIGITS).encode(), 200, {}
            except Broken as error:
                body, status, headers = b'{"error": "no"}', 200, error.headers
                if error.what == "hang up":
                    return
                if error.what == "half":
                    self.send_response(200)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b'{"data": {"items": []')
                    return
                if error.what == "garbage":
                    body = b"<html>"
                elif error.what.isdigit():
                    status = int(error.what)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    there.url = f"http://127.0.0.1:{server.server_port}/v1/listings"
    yield there
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def described(source: Source, tmp_path: Path) -> Callable[..., Endpoint]:
    """The endpoint as captures.yml describes it."""

    def describe(style: str = "page", **changes: Any) -> Endpoint:
        source.style = style
        page = {"style": style, "parameter": "p", "size_parameter": "size", "size": 3, "first": int(style == "page")}
        said = {
            **{"vendor": "marketdata", "dataset": "instrument", "data_type": "instrument_listings"},
            **{"mode": "full_snapshot", "url": source.url, "records": "data.items", "total": "data.total"},
            **{"params": {"list_status": "L"}, "partitions": {"exchange": "XAMS"}, "retries": 2},
            **{"headers": {"Authorization": "Bearer {{ env_var('LISTINGS_TOKEN') }}"}},
            **{"page": page | ({"next": "data.next"} if style == "cursor" else {}) if style != "none" else None},
        }
        said = {name: value for name, value in (said | changes).items() if value is not None}
        (tmp_path / "captures.yml").write_text(json.dumps({"listings": said}))
        return read_endpoint(tmp_path, "listings")

    return describe


class World:
    """A clock that each look moves on, what was waited for, and what was said."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 9, tzinfo=UTC)
        self.waited: list[float] = []
        self.said: list[str] = []
        self.tools = Tools(self.now, self.waited.append, self.said.append)

    def now(self) -> datetime:
        self.time += timedelta(milliseconds=1)
        return self.time


@pytest.fixture
def world() -> World:
    return World()


def told(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """A capture's manifest and symbols, once landing would take it."""
    [found], wrong = find_captures([folder])
    assert wrong == []
    records = [json.loads(str(text)) for _, text in texts_in(found.records)]
    return json.loads((folder / "_manifest.json").read_text()), [record["symbol"] for record in records]


def is_complete(folder: Path, why: str | None) -> bool:
    manifest, symbols = told(folder)
    assert manifest["record_count"] == len(symbols)
    assert manifest["complete"] == (why is None)
    assert list(folder.parents[4].glob(".partial-*")) == [] or why is not None
    return why is None and symbols == SYMBOLS


@pytest.mark.parametrize("style", ["none", "page", "offset", "cursor"])
def test_all_pages_are_captured_as_the_vendor_wrote_them(
    source: Source, described: Callable[..., Endpoint], world: World, style: str
) -> None:
    folder, why = capture(described(style, as_of="data.at"), LISTINGS, tools=world.tools)
    assert is_complete(folder, why)
    manifest, _ = told(folder)
    assert (manifest["expected_record_count"], manifest["vendor_effective_ts_us"]) == (10, 1772352000000000)
    assert next(text for _, text in texts_in(folder / "records.jsonl.gz")) == '{"symbol": "S0", "tick_size": 0.010}'
    assert len(source.asked) == {"none": 1}.get(style, 4)
    assert world.said[-1].endswith("pages, 10 records")


def test_a_secret_comes_from_the_environment_and_goes_nowhere_else(
    source: Source, described: Callable[..., Endpoint], world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.trouble = {2: Broken("503"), 3: Broken("401")}
    folder, why = capture(described(), LISTINGS, tools=world.tools)
    assert source.tokens == {f"Bearer {SECRET}"}
    assert why is not None
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in [*kept, why.encode(), *map(str.encode, world.said)])
    assert folder.is_dir()
    monkeypatch.delenv("LISTINGS_TOKEN")
    with pytest.raises(ContractError, match="environment variable LISTINGS_TOKEN is not set"):
        described()


@pytest.mark.parametrize("trouble", ["hang up", "half", "garbage", "500", "503", "429"])
@pytest.mark.parametrize("style", ["page", "cursor"])
def test_what_may_go_better_is_asked_again(
    source: Source, described: Callable[..., Endpoint], world: World, trouble: str, style: str
) -> None:
    source.trouble = {1: Broken(trouble), 4: Broken(trouble), 5: Broken(trouble)}
    folder, why = capture(described(style), LISTINGS, tools=world.tools)
    assert is_complete(folder, why)
    assert world.waited == [1, 1, 2]
    assert all("hush" not in text for text in world.said)


def test_a_limit_is_kept_as_long_as_is_asked_for(
    source: Source, described: Callable[..., Endpoint], world: World
) -> None:
    until = "Sun, 01 Mar 2026 09:01:00 GMT"
    source.trouble = {1: Broken("429", Retry_After="17"), 2: Broken("503", Retry_After=until)}
    folder, why = capture(described(), LISTINGS, tools=world.tools)
    assert is_complete(folder, why)
    assert [round(wait) for wait in world.waited] == [17, 60]
    source.trouble = {len(source.asked) + 1: Broken("429", Retry_After="86400")}
    _, why = capture(described(), LISTINGS, tools=world.tools)
    assert why is not None
    assert "asks to wait 86400 seconds; what there is stays, and the same command goes on from it" in why


def test_what_gives_up_is_incomplete_and_goes_on_where_it_stopped(
    source: Source, described: Callable[..., Endpoint], world: World
) -> None:
    """Nothing that was had is asked for again, and only what saw the true end says that it is complete."""
    source.trouble = {number: Broken("hang up") for number in (3, 4, 5)}
    folder, why = capture(described(), LISTINGS, tools=world.tools)
    assert not is_complete(folder, why)
    manifest, symbols = told(folder)
    assert (manifest["complete"], manifest["expected_record_count"], symbols) == (False, 10, SYMBOLS[:6])
    assert why is not None
    assert "gave no whole answer (RemoteDisconnected), 3 times in a row" in why
    before = len(source.asked)
    again, why = capture(described(), LISTINGS, tools=world.tools)
    assert is_complete(again, why)
    assert [query["p"] for query in source.asked[before:]] == ["3", "4"]
    assert again != folder


def test_pages_of_another_hour_or_request_are_not_gone_on_from(
    source: Source, described: Callable[..., Endpoint], world: World
) -> None:
    def gives_up() -> int:
        source.trouble = {len(source.asked) + number: Broken("404") for number in (3,)}
        capture(described(), LISTINGS, tools=world.tools)
        return len(source.asked)

    before = gives_up()
    world.time += timedelta(hours=2)
    assert is_complete(*capture(described(), LISTINGS, tools=world.tools))
    assert source.asked[before]["p"] == "1"
    before = gives_up()
    assert is_complete(*capture(described(), LISTINGS, tools=world.tools, restart=True))
    assert source.asked[before]["p"] == "1"
    before = gives_up()
    capture(described(params={"list_status": "D"}), LISTINGS, tools=world.tools)
    assert (source.asked[before]["p"], source.asked[before]["list_status"]) == ("1", "D")


@pytest.mark.parametrize("style", ["offset", "cursor"])
def test_a_short_page_is_no_end(source: Source, described: Callable[..., Endpoint], world: World, style: str) -> None:
    source.gives = {1: 1, 2: 2, 4: 1}
    for total in ("data.total", None):
        assert is_complete(*capture(described(style, total=total), LISTINGS, tools=world.tools))
        source.gives = {len(source.asked) + number: size for number, size in ((1, 1), (2, 2), (4, 1))}


def test_pages_by_number_that_come_short_have_lost_records_and_say_so(
    source: Source, described: Callable[..., Endpoint], world: World
) -> None:
    """Once: it is asked for again. Always: it is incomplete, however often it is asked."""
    source.gives = {2: 2}
    assert is_complete(*capture(described(), LISTINGS, tools=world.tools))
    assert any("asking again from the start" in text for text in world.said)
    source.gives = dict.fromkeys(range(1, 100), 2)
    folder, why = capture(described(), LISTINGS, tools=world.tools)
    assert not is_complete(folder, why)
    assert why is not None
    assert why.startswith("There are ")
    assert why.endswith("records where 10 were announced, each of 3 times")


def test_a_listing_that_moves_is_read_again_until_it_stands_still(
    source: Source, described: Callable[..., Endpoint], world: World
) -> None:
    """A total that changes; and, where no total is told, an entity that slides onto the next page."""
    source.trouble = {2: lambda: source.symbols.append("S10"), 6: lambda: source.symbols.remove("S10")}
    assert is_complete(*capture(described(), LISTINGS, tools=world.tools))
    assert [text for text in world.said if "asking again" in text] == [
        "listings: There were 10 records, and now there are 11; asking again from the start",
        "listings: There were 11 records, and now there are 10; asking again from the start",
    ]
    source.trouble = {len(source.asked) + 2: lambda: source.symbols.insert(0, "S99")}
    folder, why = capture(described(total=None), LISTINGS, tools=world.tools)
    assert why is None
    assert told(folder)[1] == ["S99", *SYMBOLS]


def test_a_cursor_that_leads_in_a_circle_ends(
    source: Source, described: Callable[..., Endpoint], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = described("cursor", total=None, mode="incremental_append")
    items = [{"symbol": "S1"}]
    monkeypatch.setattr(source, "answer", lambda _: {"data": {"items": items, "next": "again"}})
    folder, why = capture(endpoint, LISTINGS, tools=world.tools)
    assert why == "Page 'again' is said to follow itself, each of 3 times"
    assert not told(folder)[0]["complete"]


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (Broken("404"), "answered 404 Not Found"),
        (Broken("302", Location="http://127.0.0.1:1/elsewhere"), "answered 302 Found"),
        (Broken("refused"), "The answer has no list at 'data.items': correct records in captures.yml"),
    ],
    ids=lambda value: getattr(value, "what", ""),
)
def test_what_cannot_go_better_is_not_asked_again(
    source: Source, described: Callable[..., Endpoint], world: World, trouble: Broken, says: str
) -> None:
    source.trouble = {1: trouble}
    folder, why = capture(described(), LISTINGS, tools=world.tools)
    assert (len(source.asked), told(folder)[0]["complete"], world.waited) == (1, False, [])
    assert why is not None
    assert says in why


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"vendor": None}, "does not say vendor"),
        ({"colour": "red"}, "says colour, which means nothing here"),
        ({"mode": "delta"}, "mode is 'delta', not full_snapshot or incremental_append"),
        ({"page": {"style": "scroll"}}, "page: style is 'scroll', not none or page or offset or cursor"),
        ({"page": {"style": "page"}}, "page: parameter is missing"),
        ({"page": {"style": "cursor", "parameter": "c"}}, "page: next is missing"),
        ({"url": "file:///etc/passwd"}, "no address that begins with http"),
        ({"headers": {"X-Api-Key": "abc"}}, "X-Api-Key holds a secret; put it in the environment"),
        ({"params": {"access_token": "abc"}}, "access_token holds a secret; put it in the environment"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_an_endpoint_that_is_described_wrongly_is_refused(
    described: Callable[..., Endpoint], changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(ContractError) as refused:
        described(**changes)
    assert says in str(refused.value)


def test_attest_capture_says_where_it_is_and_ends_with_1_if_it_is_incomplete(
    source: Source, described: Callable[..., Endpoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    shutil.copyfile(ROOT / "dbt_project.yml", tmp_path / "dbt_project.yml")
    shutil.copyfile(ROOT / "profiles.yml.example", tmp_path / "profiles.yml")
    shutil.copytree(ROOT / "seeds", tmp_path / "seeds")
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    described()
    assert main(["capture", "listings"]) == 0
    assert is_complete(Path(capsys.readouterr().out.strip()), None)
    source.trouble = {len(source.asked) + 2: Broken("404")}
    assert main(["capture", "listings", "--restart"]) == 1
    assert "says that it is incomplete" in capsys.readouterr().err
    assert main(["capture", "terms"]) == 1
    assert "The format of terms is csv, so it is not captured" in capsys.readouterr().err


def test_a_capture_in_parquet_is_the_same(described: Callable[..., Endpoint], world: World) -> None:
    endpoint = described()
    asked = replace(endpoint.asked, record_format="parquet")
    folder, why = capture(replace(endpoint, asked=asked), LISTINGS, tools=world.tools)
    assert why is None
    assert told(folder)[1] == SYMBOLS
