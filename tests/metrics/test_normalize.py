"""Text normalisers: equal what should be equal, and no language is damaged."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsb2_tasks.metrics import NORMALIZERS, default_normalizer, normalize, to_simplified


@pytest.mark.parametrize(
    ("name", "text", "result"),
    [
        ("none", "  Mr.  Quilter ", "Mr. Quilter"),
        ("official_port", "L'état, c'est MOI!", "létat cest moi"),
        ("superb", "it’s  well-known, ok?", "IT'S WELL KNOWN OK"),
        ("whisper_en", "Mr. Neil can't pay £20, uh, colour!", "mister neil can not pay £20 color"),
        ("whisper_en", "the U.S.A. has wi-fi", "the u s a has wi fi"),
        ("hf_leaderboard", "the U. S. A. has Wi-Fi, ok", "the usa has wifi okay"),
        ("norm_multi", "Straße [lacht] <noise> GROSS", "strasse gross"),
        ("norm_multi", "L’ÉTAT, ‘c'est’ moi '", "l'état c'est moi"),
        ("norm_multi", "rock 'n' roll it's", "rock n roll it's"),
        ("norm_multi", "ＡＢＣ　１２３…", "abc 123"),
        ("norm_multi", "हिन्दी में। ठीक है?", "हिन्दी में ठीक है"),
        ("norm_multi", "¿Qué  año?", "qué año"),
        ("norm_multi", "snake_case a/b", "snake case a b"),
        ("norm_ar", "مَرْحَبًا بِكَ، أَهْلًا ‏", "مرحبا بك أهلا"),
        ("norm_ar", "مـــرحبا آخر مؤمن", "مرحبا آخر مؤمن"),
        ("norm_zh", "今天天氣很好， 我們去公園。", "今天天气很好我们去公园"),
        ("norm_zh", "「後來」 OK", "后来ok"),
        ("norm_mixed", "這個 Project 的 deadline", "这个 project 的 deadline"),
    ],
)
def test_results(name: str, text: str, result: str) -> None:
    assert normalize(name, text) == result


def test_a_decomposed_letter_is_the_composed_one() -> None:
    assert normalize("norm_multi", "e\u0301te\u0301") == normalize("norm_multi", "été") == "été"


def test_default_by_language() -> None:
    assert default_normalizer("en") == default_normalizer("en-US") == "whisper_en"
    assert default_normalizer("zh-TW") == default_normalizer("zh_CN") == default_normalizer("cmn") == "norm_zh"
    assert default_normalizer("ar") == "norm_ar"
    assert {default_normalizer(code) for code in ("de", "hi", "fr", "es", None, "")} == {"norm_multi"}


def test_an_unknown_normalizer_is_named() -> None:
    with pytest.raises(KeyError, match="unknown text normaliser 'whisper'"):
        normalize("whisper", "a")


def test_only_chinese_changes_script() -> None:
    assert to_simplified("Größe 後") == "Größe 后"
    assert to_simplified("\ud83d後") == "?后"


@pytest.mark.parametrize("name", sorted(NORMALIZERS))
@given(text=st.text())
def test_total_and_stable(name: str, text: str) -> None:
    result = normalize(name, text)
    assert result == " ".join(result.split())


@pytest.mark.parametrize("name", sorted(NORMALIZERS))
@pytest.mark.parametrize("text", ["<", "(", "[", "<(", "9", "'", " ", ".", "a.", "one ", "hello world ", "後", "[]<>", "' '"])
def test_long_texts(name: str, text: str) -> None:
    """200,000 characters of anything: brackets that nothing closes, a number of that many digits, one word."""
    start = time.perf_counter()
    normalize(name, text * (200_000 // len(text)))
    assert time.perf_counter() - start < 3
