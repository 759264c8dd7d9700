"""Sentences that the samples speak; all written for this project."""

from __future__ import annotations

ENGLISH = (
    "the morning train was late again",
    "she put the letters back into the drawer",
    "a small boat crossed the quiet lake",
    "they painted the old fence last summer",
    "the baker opens his shop before sunrise",
    "nobody remembered the name of the street",
    "we walked home along the river",
    "the teacher wrote a number on the board",
    "his brother plays the violin every evening",
    "the garden was full of yellow flowers",
    "please leave the window open tonight",
    "the children built a house of snow",
    "an old clock stood beside the door",
    "the doctor asked her to come back on monday",
    "it rained for three days without a break",
    "the farmer sold two horses at the market",
    "our neighbour found a black cat",
    "the captain looked at the map once more",
    "there was no sugar left in the kitchen",
    "he closed the book and turned off the light",
    "the road leads through a dark forest",
    "my sister bought a ticket to the north",
    "the soup tasted better than last time",
    "a cold wind came down from the mountains",
)

#: Text as a label, and what espeak-ng is to say where that differs (Mandarin: pinyin with tone numbers).
SPOKEN: dict[str, tuple[tuple[str, str | None], ...]] = {
    "de": (
        ("der alte mann saß still am fenster", None),
        ("wir fahren morgen mit dem zug nach hause", None),
        ("die kinder spielen im garten", None),
        ("sie hat den brief nie gelesen", None),
    ),
    "en": tuple((sentence, None) for sentence in ENGLISH[8:12]),
    "es": (
        ("el niño abrió la puerta despacio", None),
        ("mañana vamos a la playa con mi hermana", None),
        ("la casa blanca está cerca del río", None),
        ("no hay pan en la cocina", None),
    ),
    "fr": (
        ("le petit garçon ouvre la fenêtre", None),
        ("nous partons demain pour la montagne", None),
        ("elle a perdu son livre dans le train", None),
        ("il fait froid ce matin", None),
    ),
    "it": (
        ("il gatto dorme sotto il tavolo", None),
        ("domani andiamo al mare con gli amici", None),
        ("la finestra della cucina è aperta", None),
        ("ha scritto una lunga lettera", None),
    ),
    "nl": (
        ("de oude molen staat aan het water", None),
        ("morgen gaan we met de fiets naar school", None),
        ("zij heeft een brief geschreven", None),
        ("het regent al de hele dag", None),
    ),
    "pl": (
        ("stary dom stoi nad rzeką", None),
        ("jutro jedziemy pociągiem do babci", None),
        ("dzieci bawią się w ogrodzie", None),
        ("ona napisała długi list", None),
    ),
    "pt": (
        ("o barco pequeno voltou ao porto", None),
        ("amanhã vamos à praia com a família", None),
        ("a janela da cozinha está aberta", None),
        ("ele perdeu o livro no comboio", None),
    ),
    "pt-br": (
        ("o menino perdeu o ônibus hoje cedo", None),
        ("a gente vai ao cinema depois do almoço", None),
        ("minha avó faz um bolo muito bom", None),
        ("está chovendo desde ontem", None),
    ),
    "ar": (
        ("السلام عليكم", None),
        ("الولد في البيت", None),
        ("هذا كتاب جديد", None),
        ("أين المدرسة", None),
    ),
    "zh": (
        ("今天天气很好", "jin1 tian1 tian1 qi4 hen3 hao3"),
        ("我们去公园", "wo3 men5 qu4 gong1 yuan2"),
        ("他在学校学习", "ta1 zai4 xue2 xiao4 xue2 xi2"),
        ("我喜欢喝茶", "wo3 xi3 huan1 he1 cha2"),
    ),
    "ru": (("доброе утро друзья", None), ("мы идём домой", None)),
    "fa": (("سلام حال شما چطور است", None),),
    "uk": (("добрий день друзі", None),),
    "sv": (("god morgon alla barn", None),),
}

#: ARPAbet without stress marks.
PHONES = {
    "he": "HH IY",
    "sees": "S IY Z",
    "the": "DH AH",
    "red": "R EH D",
    "boat": "B OW T",
    "ship": "SH IH P",
    "cat": "K AE T",
    "sat": "S AE T",
    "on": "AA N",
    "a": "AH",
    "big": "B IH G",
    "stone": "S T OW N",
    "stones": "S T OW N Z",
    "we": "W IY",
    "keep": "K IY P",
    "five": "F AY V",
    "black": "B L AE K",
    "dogs": "D AO G Z",
    "she": "SH IY",
    "reads": "R IY D Z",
    "good": "G UH D",
    "book": "B UH K",
    "books": "B UH K S",
    "they": "DH EY",
    "made": "M EY D",
    "cold": "K OW L D",
    "tea": "T IY",
    "my": "M AY",
    "blue": "B L UW",
    "shoe": "SH UW",
    "is": "IH Z",
    "wet": "W EH T",
}


def listed(text: str) -> tuple[str, ...]:
    """Options given as one text with commas."""
    return tuple(item.strip() for item in text.split(","))


def upper(sentence: str) -> str:
    """The letters of a LibriSpeech transcript."""
    return sentence.upper()


def phones(sentence: str) -> str:
    """ARPAbet of a sentence of known words, separated by blanks."""
    return " ".join(PHONES[word] for word in sentence.split())
