"""What the app says, in English and Korean: key -> (English, Korean). No Streamlit."""

from __future__ import annotations

LANGUAGES = {"en": "English", "ko": "한국어"}

TEXTS: dict[str, tuple[str, str]] = {
    # navigation
    "ask": ("Ask", "묻기"),
    "own": ("Your graph", "내 그래프"),
    "compare": ("Compare", "비교"),
    "batch": ("Batch", "일괄 처리"),
    "learn": ("Learn", "들여다보기"),
    "language": ("Language", "언어"),
    "loading": ("Opening the reader and the graph ...", "모델과 그래프를 여는 중입니다 ..."),
    # ask
    "tagline": (
        "Ask about a passage. What it leaves unsaid is looked up in a graph of everyday knowledge.",
        "글에 대해 물어보세요. 글에 쓰여 있지 않은 것은 일상 지식 그래프에서 찾습니다.",
    ),
    "gallery_pair": ("One question, two purposes:", "같은 질문, 다른 목적:"),
    "gallery_unsaid": ("What the passage leaves unsaid:", "글이 말하지 않은 것:"),
    "gallery_other": ("Said, chosen, or not to be known:", "글에 있는 것, 고르는 것, 알 수 없는 것:"),
    "start": (
        "Pick an example above, or write your own. You will see the answer, the facts that led to it, and what "
        "becomes of it when you change those facts.",
        "위의 예시를 고르거나 직접 써 보세요. 답과 그 답에 이른 사실들, 그리고 사실을 바꾸면 답이 어떻게 "
        "달라지는지 볼 수 있습니다.",
    ),
    "passage": ("Passage", "지문"),
    "question": ("Question", "질문"),
    "choices": ("Choices (optional, one a line)", "선택지 (없어도 됩니다, 한 줄에 하나)"),
    "ask_button": ("Ask", "묻기"),
    "graph": ("Graph", "그래프"),
    "shipped_graph": ("Everyday knowledge", "일상 지식"),
    "my_graph": ("Your graph", "내 그래프"),
    "passage_source": ("read in the passage", "지문에서 읽음"),
    "knowledge_source": ("from what is commonly known", "일반적으로 알려진 사실에서"),
    "graph_source": ("from the graph {graph}", "{graph} 그래프에서"),
    "choice_source": ("chosen", "선택지에서 고름"),
    "none_source": ("not answerable", "답할 수 없음"),
    "passage_short": ("passage", "지문"),
    "knowledge_short": ("knowledge", "지식"),
    "choice_short": ("choice", "선택지"),
    "no_answer": ("No answer", "답 없음"),
    "no_answer_why": (
        "Neither the passage nor the graph says it well enough.",
        "지문에도 그래프에도 충분한 근거가 없습니다.",
    ),
    "confidence": ("confidence {percent}", "확신도 {percent}"),
    "sure": ("almost certain", "거의 확실"),
    "likely": ("likely", "그럴듯함"),
    "unsure": ("unsure", "불확실"),
    "guess": ("a guess", "추측"),
    "timing": ("{model} over {graph}, {ms} ms", "{model}, {graph} 그래프, {ms} ms"),
    "or": ("Or perhaps", "다른 후보"),
    "text": ("What was read", "읽은 글"),
    "legend_text": (
        "Underlined: concepts found in the graph (point at one). Marked: the answer.",
        "밑줄: 그래프에서 찾은 개념 (마우스를 올려 보세요). 형광: 답.",
    ),
    "link": ("Link to this question", "이 질문의 링크"),
    "link_long": ("The passage is too long for a link.", "지문이 길어서 링크로 만들 수 없습니다."),
    "json": ("Answer as JSON", "답을 JSON으로"),
    "history": ("Asked so far", "지금까지 물은 것"),
    # why
    "why": ("Why", "근거"),
    "because": ("Because", "왜냐하면"),
    "said_here": ("The passage says it: “{span}”.", "지문에 있습니다: “{span}”."),
    "no_path": ("No path of facts leads to this answer.", "이 답에 이르는 사실의 경로가 없습니다."),
    "not_stated": ("The graph states no such fact.", "그래프에는 그런 사실이 없습니다."),
    "as_query": ("The same as a SPARQL query", "같은 뜻의 SPARQL 질의"),
    "other_paths": ("Other ways to it", "다른 경로"),
    "facts_around": ("The facts around it", "주변의 사실"),
    "how_many": ("How much to show", "보기 범위"),
    "path_only": ("The path", "경로만"),
    "near": ("Close by", "가까운 것"),
    "all_shown": ("More", "더 많이"),
    "legend": ("Colours", "색"),
    "role_question": ("in the question", "질문에 나옴"),
    "role_passage": ("in the passage", "지문에 나옴"),
    "role_choice": ("a choice", "선택지"),
    "role_other": ("found in the graph", "그래프에서 찾음"),
    "role_answer": ("the answer", "답"),
    "role_path": ("the path", "경로"),
    "graph_alt": (
        "Graph of {nodes} concepts and {edges} facts; the list below says the same.",
        "개념 {nodes}개, 사실 {edges}개의 그래프. 아래 목록과 같은 내용입니다.",
    ),
    "zoom_in": ("Closer", "확대"),
    "zoom_out": ("Wider", "축소"),
    "zoom_whole": ("All of it", "전체 보기"),
    "zoom_hint": (
        "Drag to move, click a concept for its facts.",
        "끌어서 옮기고, 개념을 누르면 그 사실이 나옵니다.",
    ),
    "as_list": ("The same as a list ({count} facts)", "목록으로 보기 (사실 {count}개)"),
    "concept_facts": ("Look at a concept", "개념 살펴보기"),
    "mattered": ("Which facts mattered?", "어떤 사실이 중요했나?"),
    "mattered_note": (
        "How far the answer's probability falls (green) or rises (orange) when one fact is taken away "
        "and the question is read again.",
        "사실 하나를 뺀 뒤 다시 읽었을 때 답의 확률이 얼마나 떨어지는지(초록) 오르는지(주황) 보여 줍니다.",
    ),
    "mattered_none": (
        "This answer rests on no fact of the graph.",
        "이 답은 그래프의 사실에 기대지 않습니다.",
    ),
    "points": ("{value} points", "{value}점"),
    # what if
    "what_if": ("What if?", "만약에?"),
    "what_if_note": (
        "Strike out facts or add one, and the same question is read again. Only you see your edits.",
        "사실을 지우거나 더한 뒤 같은 질문을 다시 읽습니다. 수정 내용은 본인에게만 보입니다.",
    ),
    "without": ("What if there were no {answer}?", "{answer}이(가) 없다면?"),
    "edits": ("{count} edits", "수정 {count}개"),
    "strike": ("Strike out facts", "사실 지우기"),
    "add_head": ("This", "이것"),
    "add_relation": ("relation", "관계"),
    "add_tail": ("that", "저것"),
    "add_fact": ("Add a fact", "사실 더하기"),
    "pick": ("Pick", "고르기"),
    "again": ("Ask again", "다시 묻기"),
    "undo": ("Undo", "되돌리기"),
    "undo_all": ("Undo all", "모두 되돌리기"),
    "download_edits": ("Edits as Turtle", "수정 내용을 Turtle로"),
    "before": ("Before", "전"),
    "after": ("After", "후"),
    "struck": ("struck out", "지움"),
    "added": ("added", "더함"),
    "no_edit": (
        "Choose a fact to strike out, or write one to add.",
        "지울 사실을 고르거나 더할 사실을 쓰세요.",
    ),
    # your graph
    "own_note": (
        "Any RDF graph can be asked; nothing is trained. It stays in your session and is forgotten with it.",
        "어떤 RDF 그래프든 물을 수 있고, 따로 학습하지 않습니다. 세션이 끝나면 지워집니다.",
    ),
    "upload": (
        "Turtle, N-Triples, JSON-LD, RDF/XML or TSV, up to 50 MB",
        "Turtle, N-Triples, JSON-LD, RDF/XML, TSV (최대 50 MB)",
    ),
    "together": ("Together with everyday knowledge", "일상 지식과 함께"),
    "endpoint": ("or the address of a SPARQL endpoint", "또는 SPARQL 엔드포인트 주소"),
    "open": ("Open", "열기"),
    "reading": ("Reading {name} ...", "{name} 읽는 중 ..."),
    "concepts": ("Concepts", "개념"),
    "facts": ("Facts", "사실"),
    "labels": ("Labels", "이름"),
    "languages": ("Languages", "언어"),
    "untagged": ("untagged", "표시 없음"),
    "relations": ("Relations", "관계"),
    "relation_words": ("read as", "읽는 말"),
    "count": ("count", "개수"),
    "left_out": ("Left out", "쓰지 않은 것"),
    "all_understood": ("Everything was understood.", "모두 이해했습니다."),
    "search": ("Look for a concept", "개념 찾기"),
    "not_found": ("No concept of that name.", "그런 이름의 개념이 없습니다."),
    "hubs": ("The most connected concepts", "가장 많이 이어진 개념"),
    "ask_own": ("Ask over this graph", "이 그래프에 묻기"),
    "forget": ("Forget this graph", "이 그래프 지우기"),
    "remote": (
        "{name} is asked over the network; it is looked at as questions need it.",
        "{name}은(는) 네트워크로 묻습니다. 질문에 필요한 만큼만 봅니다.",
    ),
    "own_hint": (
        "No graph at hand? Here is a small one whose relations the reader has never met:",
        "그래프가 없나요? 모델이 본 적 없는 관계로 된 작은 그래프가 있습니다:",
    ),
    "open_sample": ("Open {name}", "{name} 열기"),
    # compare
    "compare_note": (
        "The same question, read by several readers, and by one reader with less of the graph.",
        "같은 질문을 여러 모델과, 그래프를 줄인 모델로 읽습니다.",
    ),
    "readers": ("Readers", "모델"),
    "compare_button": ("Compare", "비교하기"),
    "no-facts": ("without facts", "사실 없이"),
    "shuffled": ("with shuffled facts", "뒤섞은 사실로"),
    "compare_own": (
        "To see your own checkpoint here, start the app with `kgqa app --reader FOLDER`.",
        "직접 학습한 모델을 보려면 `kgqa app --reader FOLDER`로 시작하세요.",
    ),
    # batch
    "batch_note": (
        "A CSV or JSONL file with a column `question`, and if you like `id`, `passage`, `choices` "
        "(in CSV separated by |). The answers come back as a file, in the same order.",
        "`question` 열이 있는 CSV 또는 JSONL 파일. `id`, `passage`, `choices`(CSV에서는 |로 구분)는 "
        "선택입니다. 답은 같은 순서의 파일로 돌려드립니다.",
    ),
    "batch_upload": ("CSV or JSONL, up to {limit} questions", "CSV 또는 JSONL, 질문 최대 {limit}개"),
    "answer_all": ("Answer them all", "모두 답하기"),
    "answering": ("{done} of {total}", "{total}개 중 {done}개"),
    "answers": ("Answers", "답"),
    "download_csv": ("Download CSV", "CSV 내려받기"),
    "download_jsonl": ("Download JSONL (with evidence)", "JSONL 내려받기 (근거 포함)"),
    "sample": ("A file to try", "시험용 파일"),
    # learn
    "learn_note": (
        "The reader's encoder was pretrained in this project by guessing hidden words. Hide some and see.",
        "모델의 인코더는 가린 낱말을 맞히며 사전 학습되었습니다. 낱말을 가려 보세요.",
    ),
    "sentence": ("Sentence; write [MASK] for a hidden word", "문장; 가릴 낱말은 [MASK]로 쓰세요"),
    "guess_button": ("Guess", "맞히기"),
    "guess_every": ("Hide each word in turn", "낱말을 하나씩 가리기"),
    "guesses": ("Guesses", "추측"),
    "corrupt_button": ("Corrupt it", "바꿔치기"),
    "corrupt_note": (
        "Some words were hidden and drawn anew from the encoder's own guesses; the marked ones are new.",
        "몇 낱말을 가리고 인코더의 추측에서 새로 뽑았습니다. 표시된 낱말이 새것입니다.",
    ),
    "verdict": (
        "Which words were replaced? The discriminator's verdict",
        "어느 낱말이 바뀌었나? 판별기의 판정",
    ),
    "no_discriminator": (
        "No discriminator (RTD) is at hand: the shipped encoder was pretrained by guessing hidden words alone. "
        "Set KGQA_DISCRIMINATOR to an ElectraForPreTraining folder to see its verdict here. Below instead: "
        "how probable the encoder itself holds each word.",
        "판별기(RTD)가 없습니다. 함께 제공되는 인코더는 가린 낱말 맞히기로만 학습되었습니다. "
        "KGQA_DISCRIMINATOR에 ElectraForPreTraining 폴더를 지정하면 판정이 나옵니다. "
        "대신 인코더가 보는 각 낱말의 확률을 보여 줍니다.",
    ),
    "replaced": ("replaced {percent}", "바뀜 {percent}"),
    "curves": ("Loss while pretraining", "사전 학습 중의 손실"),
    "curves_note": (
        "Nats a token against millions of tokens read; held out: rows that are never trained on.",
        "읽은 토큰(백만)에 따른 토큰당 손실(nat). held out은 학습에 쓰지 않은 줄입니다.",
    ),
    "tokens": ("tokens, millions", "토큰 (백만)"),
    "loss": ("loss", "손실"),
    "run": ("run", "실행"),
    "rank_note": (
        "For each word: how probable the encoder holds it when it is hidden, and what it would have said.",
        "각 낱말을 가렸을 때 인코더가 보는 확률과 대신 말했을 낱말입니다.",
    ),
    "attention": ("Attention", "어텐션"),
    "attention_note": (
        "Row: the word that looks. Column: the word looked at.",
        "행: 보는 낱말. 열: 보이는 낱말.",
    ),
    "layer": ("Layer", "층"),
    "head": ("Head", "헤드"),
    "no_encoder": (
        "No pretrained encoder with its word-guessing head was found ({folder}).",
        "낱말을 맞히는 머리가 있는 사전 학습 인코더가 없습니다 ({folder}).",
    ),
    "results": ("Results", "결과"),
    "no_results": ("No results have been written yet.", "아직 결과가 없습니다."),
    "no_mask": ("Write [MASK] where a word is hidden.", "가릴 자리에 [MASK]를 쓰세요."),
    "too_long": ("At most {limit} characters, please.", "최대 {limit}자까지 가능합니다."),
}


def text(key: str, language: str = "en", **values: object) -> str:
    """A text in a language (English for one that is not known), with its values filled in."""
    return TEXTS[key][1 if language == "ko" else 0].format(**values)
