"""The page in a real browser: Debian's Chromium, driven by playwright's client."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from _report_runs import ASR, TASKS

from dsb2_tasks.baseline import read_baseline
from dsb2_tasks.report import Drawing, build, choose, encode, render
from dsb2_tasks.results import Run

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install 'dsb2-tasks[dev]')")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    # Chromium refuses its sandbox to root, as tests run in containers.
    flags = ["--autoplay-policy=no-user-gesture-required", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield made
        made.close()


@pytest.fixture(scope="module")
def address(folder: Path, runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> str:
    three = [runs["evil"], runs["sonata"], runs["mira"]]
    report = build(three, read_baseline(str(folder / "cascade")), how=Drawing(draws=100))
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_bytes(encode(render(report, choose(report, 8, audio_bytes=2_000_000))))
    return file.as_uri()


@pytest.fixture
def page(browser, address: str) -> Iterator:
    """A page that has said nothing and asked for nothing when the test is over."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
    tab.goto(address)
    yield tab
    assert said == []
    assert [url for url in asked if not url.startswith(("data:audio/", address))] == []
    context.close()


def _column(page, number: int) -> list[str]:
    rows = page.locator("tr[data-q]")
    return rows.evaluate_all(f"rows => rows.map(row => row.cells[{number}].dataset.v)")


def _shown(page, selector: str = "tr[data-q]") -> int:
    return page.locator(f"{selector}:visible").count()


def test_nothing_is_asked_for_and_nothing_is_said(page) -> None:
    assert page.title().startswith("Dynamic-SUPERB Phase-2: <b>evil</b>")
    assert "owned" not in page.title()


def test_columns_sort_up_and_down_with_what_is_missing_last(page) -> None:
    head = page.locator('#tasks ~ div th:has(button[data-column="7"])').first
    button = head.locator("button")
    button.click()
    up = _column(page, 7)
    assert head.get_attribute("aria-sort") == "ascending"
    assert up == sorted(up, key=float)
    button.click()
    assert _column(page, 7) == sorted(up, key=float, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    sparse = page.locator('#tasks ~ div th button[data-column="2"]').first  # the first run has four tasks, one without a value
    for _ in ("up", "down"):
        sparse.click()
        values = _column(page, 2)
        assert [value != "" for value in values] == [True] * 3 + [False] * (len(TASKS) - 3)
    assert page.locator("#tasks ~ div").first.locator("th[aria-sort]:not([aria-sort=none])").count() <= 1


def test_sorting_works_from_the_keyboard(page) -> None:
    button = page.locator('#tasks ~ div th button[data-column="0"]').first
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    names = _column(page, 0)
    assert names == sorted(names, reverse=True)


def test_search_finds_tasks_by_name_metric_and_data_set(page) -> None:
    search = page.get_by_label("Search tasks")
    for words, count in (("", len(TASKS)), ("asr librispeech", 1), ("WER", 2), ("DynamicSuperb/SuperbASR", 1), ("no such", 0)):
        search.fill(words)
        assert _shown(page) == count
        assert page.locator("#count").inner_text() == f"{count} of {len(TASKS)} tasks"
        assert _shown(page, "details.task") == count


def test_filters_by_domain_and_kind(page) -> None:
    page.get_by_label("Output kind").select_option("transcript")
    assert _shown(page) == 2
    page.get_by_label("Domain", exact=True).select_option("dsb2-phase2/sound_event")
    assert _shown(page) == 0
    page.get_by_label("Output kind").select_option("")
    assert _shown(page) == sum(
        "sound_event" in d for d in page.locator("tr[data-q]").evaluate_all("r => r.map(x => x.dataset.domain)")
    )


def test_a_domain_leads_to_its_tasks(page) -> None:
    page.locator('a[data-domain-link="dsb2-phase2/spatial_audio"]').click()
    assert page.get_by_label("Domain", exact=True).input_value() == "dsb2-phase2/spatial_audio"
    assert 0 < _shown(page) < len(TASKS)


def test_a_run_can_be_hidden_and_shown_again(page) -> None:
    key = page.get_by_role("button", name="sonata")
    before = page.locator("td.m1:visible").count()
    assert before > 0
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    assert page.locator("td.m1:visible").count() == 0
    assert page.locator("td.m0:visible").count() > 0
    assert key.is_visible()
    key.click()
    assert page.locator("td.m1:visible").count() == before


def test_what_is_better_or_worse_is_told_without_colour(page) -> None:
    cells = page.locator("#differences ~ div td[data-label=Difference]")
    assert cells.count() > 0
    marks = page.locator("#differences ~ div .better, #differences ~ div .worse")
    assert set(marks.evaluate_all("m => m.map(e => e.textContent + e.getAttribute('aria-label'))")) <= {"▲better", "▼worse"}
    assert marks.count() > 0


def test_a_link_opens_its_task_even_if_a_filter_hides_it(page) -> None:
    page.get_by_label("Search tasks").fill("no such")
    page.evaluate(f"location.hash = 't-{ASR}'")
    page.locator(f"#t-{ASR}[open]").wait_for()
    assert page.locator(f"#t-{ASR} .doc").count() == 8


def test_a_clip_plays(page) -> None:
    page.evaluate(f"location.hash = 't-{ASR}'")
    audio = page.locator(f"#t-{ASR} audio").first
    audio.evaluate("a => { a.muted = true; return a.play(); }")
    page.wait_for_function("a => a.currentTime > 0.1", arg=audio.element_handle())
    assert audio.evaluate("a => a.error") is None
    assert audio.evaluate("a => a.duration") == pytest.approx(2, abs=3)


def test_every_clip_can_be_played(page) -> None:
    kinds = page.locator("audio").evaluate_all(
        """clips => Promise.all(clips.map(clip => new Promise(done => {
            clip.addEventListener("canplay", () => done("plays"));
            clip.addEventListener("error", () => done(clip.error.message));
            clip.load();
        })))"""
    )
    assert len(kinds) > 20
    assert set(kinds) == {"plays"}


def test_what_a_model_says_stays_text(page) -> None:
    page.evaluate(f"location.hash = 't-{ASR}'")
    said = "\n".join(page.locator(f"#t-{ASR} .answer.m0").all_inner_texts())
    assert "<script>document.title = 'owned'</script>" in said
    assert '"><img src=x onerror="document.title=1">' in said
    assert "</textarea></pre></style></script><h1>big</h1>" in said
    assert "over ⟨U+202E⟩right to left⟨U+202C⟩" in said
    assert "998,000 more characters" in said
    assert page.locator("img, h1:not(#overview), a[href^=javascript]").count() == 0


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_the_page_never_scrolls_sideways(width: int, page) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("button", name="Open all").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_can_be_chosen(scheme: str, page) -> None:
    dark = "getComputedStyle(document.body).backgroundColor === 'rgb(18, 21, 24)'"
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(dark) == (scheme == "dark")
    button = page.locator("#theme")
    for name, expected in (("light", False), ("dark", True), ("auto", scheme == "dark")):
        button.click()
        assert button.inner_text() == f"Colours: {name}"
        assert page.evaluate(dark) == expected


def test_the_choice_of_colours_is_kept(page) -> None:
    page.locator("#theme").click()
    page.reload()
    assert page.locator("#theme").inner_text() == "Colours: light"


def test_text_has_enough_contrast(page) -> None:
    """4.5 to 1 for text, as WCAG asks, in both colour schemes."""
    script = """() => {
        const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
        const low = new Set();
        for (const e of document.querySelectorAll("p, td, th, small, a, dt, dd, h1, h2, h3, summary, button, .tag, output")) {
            if (!e.checkVisibility() || !e.innerText) continue;
            const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
            if ((a + 0.05) / (b + 0.05) < 4.5) low.add(`${e.tagName}.${e.className}`);
        }
        return [...low];
    }"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(script) == []


def test_the_first_stop_of_the_keyboard_skips_to_the_report(page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_every_control_has_a_name(page) -> None:
    nameless = page.locator("button, input, select, audio, [role=img]").evaluate_all(
        "all => all.filter(e => !(e.innerText || e.getAttribute('aria-label') || '').trim()).map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


def test_it_prints_on_white_without_controls(page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert _shown(page, ".bar") == _shown(page, ".tools") == 0
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_page_is_whole(browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address)
    assert tab.locator("tr[data-q]:visible").count() == len(TASKS)
    assert tab.locator(".needs-js:visible").count() == 0
    context.close()
