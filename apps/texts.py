"""What the app says, in English and Korean: key -> (English, Korean). No Streamlit."""

from __future__ import annotations

import re

LANGUAGES = {"en": "English", "ko": "한국어"}
_PARTICLES = re.compile(r"(.+?)(이\(가\)|은\(는\)|을\(를\)|\(으\)로)")

TEXTS: dict[str, tuple[str, str]] = {
    # navigation
    "ask": ("Ask", "묻기"),
    "own": ("Your graph", "내 그래프"),
    "compare": ("Compare", "비교"),
    "batch": ("Batch", "일괄 처리"),
    "learn": ("Learn", "들여다보기"),
    "about": ("About", "소개"),
    "caution": ("Say “I don't know” below", "이보다 낮으면 “모르겠어요”"),
    "caution_help": (
        "An answer less sure than this is given as a guess.",
        "이보다 확신이 낮은 답은 추측으로 보여 줍니다.",
    ),
    "language": ("Language", "언어"),
    "loading": ("Opening the reader and the graph ...", "모델과 그래프를 여는 중입니다 ..."),
    # ask
    "tagline": (
        "Ask about a passage. What it leaves unsaid is looked up in a graph of everyday knowledge.",
        "글에 대해 물어보세요. 글에 쓰여 있지 않은 것은 일상 지식 그래프에서 찾습니다.",
    ),
    "gallery_pair": ("One question, two purposes:", "같은 질문, 다른 목적:"),
    "gallery_unsaid": ("What the passage leaves unsaid:", "글이 말하지 않은 것:"),
    "gallery_long": ("Longer texts:", "긴 글:"),
    "gallery_own": ("A graph of one's own:", "나만의 그래프:"),
    "own_example": ("beekeeping", "양봉"),
    "passage_box": ("Passage and choices", "지문과 선택지"),
    "passage_kept": ("Passage: {start}", "지문: {start}"),
    "passage_none": (
        "No passage. Open to add one, or choices",
        "지문 없음. 열어서 지문이나 선택지를 더하세요",
    ),
    "passage_hint": (
        "Write or paste a text, or leave it empty",
        "글을 쓰거나 붙여 넣으세요. 비워 두어도 됩니다",
    ),
    "question_hint": ("What do you want to know?", "무엇이 궁금한가요?"),
    "follow_up": ("Ask more about this passage", "이 글에 대해 더 물어보세요"),
    "passage_file": ("Passage from a file", "파일에서 지문 가져오기"),
    "file_limit": ("{kinds}, up to {mb} MB", "{kinds} (최대 {mb} MB)"),
    "new_passage": ("Start with another passage", "다른 글로 시작하기"),
    "conversation": ("Asked about this passage before", "이 글에 대해 앞서 물은 것"),
    "graph_gone": (
        "This asks the graph “{name}”, which is no longer open here. Open its file again under Your graph; "
        "the question was not put to another graph.",
        "이 질문은 “{name}” 그래프에 대한 것인데 지금은 열려 있지 않습니다. 내 그래프에서 파일을 다시 "
        "열어 주세요. "
        "다른 그래프에 묻지 않았습니다.",
    ),
    "unknown": ("I don't know", "잘 모르겠습니다"),
    "unknown_perhaps": ("I don't know; perhaps {answer}", "잘 모르겠습니다. 아마 {answer}"),
    "yes": ("Yes", "네"),
    "no": ("No", "아니요"),
    "no_answer_try": (
        "Try: give a passage that says it, choices, or other words.",
        "답이 담긴 글이나 선택지를 주거나 다른 말로 물어보세요.",
    ),
    "was_it_right": ("Was this right?", "맞는 답인가요?"),
    "would_be_right": ("What would be right?", "올바른 답은 무엇인가요?"),
    "note": ("Note (optional)", "메모 (선택)"),
    "keep": ("Keep", "저장"),
    "kept": (
        "Kept on this machine. Nothing is sent anywhere.",
        "이 컴퓨터에 저장했습니다. 어디로도 보내지 않습니다.",
    ),
    "download_feedback": ("For training (JSONL)", "학습용으로 받기 (JSONL)"),
    "gallery_other": ("Said, chosen, or not to be known:", "글에 있는 것, 고르는 것, 알 수 없는 것:"),
    "start": (
        "Pick an example above, or write your own. You will see the answer, the facts that led to it, "
        "and what "
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
    "decided_here": ("The passage decides it here: “{span}”.", "지문의 이 부분이 답을 정합니다: “{span}”."),
    "known_from_reading": (
        "Known from reading; no single fact decided this. It fits these facts:",
        "읽어서 아는 것입니다. 어느 한 사실이 정하지는 않았고, 다음 사실과 들어맞습니다:",
    ),
    "facts_from": ("Facts from {source}", "사실의 출처: {source}"),
    "facts_turtle": ("These facts as Turtle", "이 사실들을 Turtle로"),
    "save_as": ("Save as", "저장:"),
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
        "Any RDF graph can be asked; nothing is trained. It stays in this machine's memory until you "
        "forget it or "
        "the app stops; whoever has your link can ask it too.",
        "어떤 RDF 그래프든 물을 수 있고, 따로 학습하지 않습니다. 지우거나 앱을 끌 때까지 이 컴퓨터의 "
        "메모리에만 있으며, "
        "링크를 가진 사람도 물을 수 있습니다.",
    ),
    "upload": (
        "Turtle, N-Triples, JSON-LD, RDF/XML or TSV, one file or several, up to 50 MB",
        "Turtle, N-Triples, JSON-LD, RDF/XML, TSV, 여러 파일 가능 (최대 50 MB)",
    ),
    "together": ("Together with everyday knowledge", "일상 지식과 함께"),
    "endpoint": ("or the address of a SPARQL endpoint", "또는 SPARQL 엔드포인트 주소"),
    "open_another": ("Open another graph", "다른 그래프 열기"),
    "nothing_uploaded": ("Choose a file first, or several.", "먼저 파일을 고르세요. 여러 개도 됩니다."),
    "suggested": ("Questions it answers", "이 그래프가 답하는 질문"),
    "schema": ("Schema", "스키마"),
    "types": ("Types", "종류"),
    "query": ("Query in SPARQL", "SPARQL로 질의하기"),
    "query_note": (
        "SELECT over the facts that were understood; nothing can be changed. At most {rows} rows.",
        "이해한 사실에 SELECT로 묻습니다. 아무것도 바뀌지 않습니다. 최대 {rows}줄.",
    ),
    "run_query": ("Run", "실행"),
    "no_rows": ("No rows.", "결과가 없습니다."),
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
        "The same question, or a file of them, read by several readers, and by one reader with less to "
        "go by.",
        "같은 질문이나 질문 파일을 여러 모델로, 그리고 정보를 줄인 모델로 읽습니다.",
    ),
    "one_question": ("One question", "질문 하나"),
    "file_of_questions": ("A file of questions", "질문 파일"),
    "compare_file_note": (
        "CSV or JSONL as under Batch; with a column `answer` the readers are scored.",
        "일괄 처리와 같은 CSV 또는 JSONL. `answer` 열이 있으면 점수를 냅니다.",
    ),
    "accepted": ("accepted", "정답"),
    "agrees_first": ("agrees with the first", "첫 모델과 일치"),
    "agreement": (
        "Any two of them agree on {percent} of the questions.",
        "둘씩 보면 평균 {percent}의 질문에서 답이 같습니다.",
    ),
    "ways_explained": ("What is left out, and why", "무엇을 왜 빼는가"),
    "text-only": ("text only", "글만"),
    "text-only_explained": (
        "no graph at all: what the reader knows from the passage alone.",
        "그래프가 전혀 없이 글만으로 아는 것.",
    ),
    "no-facts_explained": (
        "the concepts are there, what is said of them is not.",
        "개념은 있지만 개념 사이의 사실이 없음.",
    ),
    "shuffled_explained": (
        "facts dealt out anew, so that none is true: who does as well with them does not read them.",
        "사실을 뒤섞어 모두 거짓으로 만듦. 그래도 똑같이 잘하면 사실을 읽지 않는 것.",
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
        "A table (CSV; commas, semicolons, tabs or bars between columns) or JSONL file with a column "
        "`question`, and "
        "if you like `id`, `passage`, `choices` and `answer` (several separated by |; (none) where "
        "nobody can know). "
        "All columns come back, with the answers.",
        "`question` 열이 있는 표(CSV, 쉼표·세미콜론·탭·|로 구분) 또는 JSONL 파일. `id`, `passage`, "
        "`choices`, `answer`는 "
        "선택입니다(여러 개는 |로 구분, 알 수 없으면 (none)). 모든 열이 답과 함께 돌아옵니다.",
    ),
    "batch_upload": (
        "CSV, TSV or JSONL, up to {limit} questions",
        "CSV, TSV 또는 JSONL, 질문 최대 {limit}개",
    ),
    "rows_left_out": ("Rows that were not asked: {count}", "묻지 못한 줄: {count}"),
    "errors": ("Errors", "오류"),
    "line": ("line", "줄"),
    "exact": ("Exactly right", "정확히 맞음"),
    "exact_help": (
        "The answer is one of those accepted; case, articles and punctuation do not count.",
        "답이 정답 중 하나와 같음. 대소문자, 관사, 문장 부호는 보지 않습니다.",
    ),
    "f1_help": (
        "How many words answer and accepted answer share, from 0 to 100 %: half credit for half an answer.",
        "답과 정답이 함께 가진 낱말의 비율. 반만 맞으면 반점입니다.",
    ),
    "refused": ("Rightly not answered", "옳게 답하지 않음"),
    "refused_help": (
        "Of the questions that nobody can answer, for how many that was said.",
        "답할 수 없는 질문 가운데 그렇다고 말한 비율.",
    ),
    "scored": ("Questions with an answer", "정답이 있는 질문"),
    "metrics_note": (
        "Compared with the file's own column `answer`. Of 100 questions such a figure is uncertain by "
        "about 5 points.",
        "파일의 `answer` 열과 비교했습니다. 질문이 100개면 이 수치의 오차는 약 5점입니다.",
    ),
    "answer_all": ("Answer them all", "모두 답하기"),
    "answering": ("{done} of {total}", "{total}개 중 {done}개"),
    "answers": ("Answers", "답"),
    "download_csv": ("Download CSV", "CSV 내려받기"),
    "download_jsonl": ("Download JSONL (with evidence)", "JSONL 내려받기 (근거 포함)"),
    "sample": ("A file to try", "시험용 파일"),
    # learn
    "learn_note": (
        "The small encoder of this project learnt its words by guessing hidden ones. Hide some and see; "
        "words that stand "
        "in the sentence already are left out of its guesses.",
        "이 프로젝트의 작은 인코더는 가린 낱말을 맞히며 배웠습니다. 낱말을 가려 보세요. 문장에 이미 있는 "
        "낱말은 추측에서 "
        "뺍니다.",
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
        "The encoder judges for itself: how probable it holds each word where it stands. (A "
        "discriminator trained to tell "
        "replaced words, RTD, does better: set KGQA_DISCRIMINATOR to an ElectraForPreTraining folder.)",
        "인코더가 스스로 판단합니다: 그 자리에 있는 각 낱말의 확률입니다. (바뀐 낱말을 가리도록 학습한 "
        "판별기(RTD)가 더 "
        "잘합니다. KGQA_DISCRIMINATOR에 ElectraForPreTraining 폴더를 지정하세요.)",
    ),
    "replaced": ("replaced {percent}", "바뀜 {percent}"),
    "soft_targets": ("Soft targets", "부드러운 정답"),
    "soft_note": (
        "The same guesses at three temperatures: a student (DistilBERT, TinyBERT) is taught these numbers and not the "
        "one right word. Look at the bars, drawn against the first guess: the higher the temperature, the more "
        "the lesser ones tell of what is alike.",
        "같은 추측을 세 온도로 보입니다. 학생 모델(DistilBERT, TinyBERT)은 정답 하나가 아니라 이 수들을 배웁니다. "
        "막대는 첫 추측에 견준 길이입니다. 온도가 높을수록 낮은 순위의 추측이 무엇이 비슷한지 더 많이 알려 줍니다.",
    ),
    "storyteller": ("Who sees whom: BERT and GPT", "누가 누구를 보나: BERT와 GPT"),
    "no_storyteller": (
        "A causal language model can be looked at here beside the encoder: set KGQA_STORYTELLER to its folder "
        "(kgqa pretrain training/recipes/pretrain/gpt2-small.toml makes one; any GPT in Hugging Face's form will do).",
        "여기서 인과 언어 모델을 인코더와 나란히 볼 수 있습니다. KGQA_STORYTELLER에 그 폴더를 지정하세요 "
        "(kgqa pretrain training/recipes/pretrain/gpt2-small.toml로 만들거나, 허깅 페이스 형식의 GPT면 됩니다).",
    ),
    "sees_note": (
        "Both read the same sentence; a row is a word that looks, a column the word looked at, in the last layer. "
        "Look above the diagonal: the encoder also looks at what comes after, the GPT sees nothing there.",
        "둘 다 같은 문장을 읽습니다. 마지막 층에서 행은 보는 낱말, 열은 보이는 낱말입니다. "
        "대각선 위를 보세요. 인코더는 뒤에 오는 말도 보지만 GPT는 아무것도 보지 못합니다.",
    ),
    "sees_both": ("Encoder: both sides", "인코더: 양쪽"),
    "sees_before": ("GPT: only what stands before", "GPT: 앞의 말만"),
    "story": ("A story continued", "이야기 이어 쓰기"),
    "story_note": (
        "The GPT goes on word by word, and each word it says becomes part of what it reads. Look at temperature 0: it "
        "takes the likeliest word each time and soon goes in circles; drawn words wander instead.",
        "GPT는 한 낱말씩 이어 쓰며, 쓴 낱말을 다시 읽습니다. 온도 0을 보세요. 매번 가장 그럴듯한 낱말만 골라 곧 "
        "맴돕니다. 뽑은 낱말은 대신 헤맵니다.",
    ),
    "story_begins": ("How the story begins", "이야기의 시작"),
    "temperature": ("Temperature", "온도"),
    "story_button": ("Go on", "이어 쓰기"),
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
    "hidden_words": ("Hidden words", "가린 낱말"),
    "tour": ("From a sentence to an answer in five steps", "문장에서 답까지 다섯 걸음"),
    "tour_note": (
        "The real values of this question. Ask another under Ask, and come back.",
        "이 질문의 실제 값입니다. 묻기에서 다른 질문을 한 뒤 돌아와 보세요.",
    ),
    "tour_read_as": ("Read as: {question}", "이렇게 읽음: {question}"),
    "step_link": ("1. Link: which words name concepts?", "1. 연결: 어떤 낱말이 개념을 가리키나?"),
    "step_link_note": (
        "Stretches of the text are looked up among the graph's labels, whatever their inflection.",
        "글의 낱말을 (활용형까지) 그래프의 이름에서 찾습니다.",
    ),
    "step_retrieve": ("2. Retrieve: what is around them?", "2. 검색: 그 둘레에는 무엇이 있나?"),
    "step_retrieve_note": (
        "{concepts} concepts and {facts} facts are fetched. The most relevant ones that the text does "
        "not name:",
        "개념 {concepts}개와 사실 {facts}개를 가져왔습니다. 글에 없는 것 중 가장 관련 있는 것:",
    ),
    "step_read": ("3. Read: words become numbers", "3. 읽기: 낱말이 숫자가 된다"),
    "step_read_note": (
        "The encoder reads {pieces} pieces in {layers} layers; each becomes {size} numbers that depend "
        "on all others. "
        "Rare words are read in parts:",
        "인코더가 조각 {pieces}개를 {layers}개 층으로 읽습니다. 조각마다 나머지 모두에 달린 숫자 "
        "{size}개가 됩니다. "
        "드문 낱말은 나누어 읽습니다:",
    ),
    "step_reason": ("4. Reason: which concept fits?", "4. 추론: 어느 개념이 맞나?"),
    "step_reason_note": (
        "Text and concepts exchange what they know along the facts. The concepts that fit best, "
        "if the answer is one:",
        "글과 개념이 사실을 따라 정보를 나눕니다. 답이 개념이라면 가장 알맞은 것:",
    ),
    "step_attended": ("The facts looked at most:", "가장 많이 본 사실:"),
    "step_decide": ("5. Decide: where does the answer stand?", "5. 결정: 답은 어디에 있나?"),
    "step_decide_note": (
        "A gate weighs where the answer is to be taken from:",
        "답을 어디에서 가져올지 저울질합니다:",
    ),
    "step_decided": ("The answer: {answer}, {percent} sure.", "답: {answer}, 확신 {percent}."),
    "source_none": ("nowhere: no answer", "어디에도 없음"),
    "in_words": ("Results in plain words", "쉬운 말로 보는 결과"),
    "parts_note": (
        "Measured on {count} questions kept aside for this ({model}). What each part brings: share "
        "answered exactly right.",
        "따로 떼어 둔 질문 {count}개로 잰 것입니다 ({model}). 각 부분이 보태는 것: 정확히 맞힌 비율.",
    ),
    "parts_kinds": (
        "By where the answer stands: in the passage, in the graph alone, or nowhere.",
        "답이 있는 곳에 따라: 지문, 그래프에만, 어디에도 없음.",
    ),
    "parts_sure": (
        "When it says so sure, how often is it right? On the line both are the same.",
        "이만큼 확신한다고 할 때 실제로 맞는 비율. 선 위에서는 둘이 같습니다.",
    ),
    "sure_as_right": ("as sure as right", "확신한 만큼 맞음"),
    "full": ("everything", "모두 사용"),
    "right": ("right", "맞음"),
    "sureness_axis": ("confidence", "확신도"),
    "kind": ("answer stands", "답이 있는 곳"),
    "way": ("reader", "모델"),
    "notebook": (
        "The lab notebook: every table, with the command that makes it",
        "실험 노트: 모든 표와 만드는 명령",
    ),
    "try_sentence": ("Try:", "예:"),
    "all_heads": ("all together", "모두 합쳐"),
    "look_from": ("A word that looks", "보는 낱말"),
    "looks_at": (
        "The darker a word, the more “{word}” looks at it.",
        "진할수록 “{word}”이(가) 많이 보는 낱말입니다.",
    ),
    "whole_table": ("All words at once", "모든 낱말 한꺼번에"),
    "about_what": ("What it is", "무엇인가요"),
    "about_what_text": (
        "kgqa reads a passage, looks up what it leaves unsaid in a knowledge graph, and answers with the "
        "facts that led "
        "there. The reader {model} answers over the graph {graph}. Everything runs on this machine.",
        "kgqa는 글을 읽고, 글이 말하지 않은 것을 지식 그래프에서 찾아, 그 답에 이른 사실과 함께 "
        "답합니다. 모델 {model}, "
        "그래프 {graph}. 모두 이 컴퓨터에서 돌아갑니다.",
    ),
    "about_good": ("Good at", "잘하는 것"),
    "about_good_text": (
        "- short everyday texts and what goes without saying in them\n- questions over a graph of your "
        "own, without "
        "training\n- showing why, and what would change the answer",
        "- 짧은 일상 글과 그 속에 생략된 것\n- 학습 없이 나만의 그래프에 묻기\n- 근거와, 무엇이 답을 "
        "바꾸는지 보여 주기",
    ),
    "about_limits": ("Limits", "한계"),
    "about_limits_text": (
        "- It is a small model and is often wrong; the Learn page says how often.\n- It counts and "
        "compares what the graph states, and does no other arithmetic.\n- No advice on health, law, "
        "safety or money; no judgements on people.\n- "
        "Encyclopaedic and long texts "
        "are read less well than everyday ones.\n- English is its language; Korean questions are glossed "
        "into English "
        "words first.\n- What the graph does not know it can only guess.",
        "- 작은 모델이라 자주 틀립니다. 얼마나 틀리는지는 들여다보기에 있습니다.\n- 그래프에 적힌 것은 "
        "세고 비교하지만, 다른 계산은 못합니다.\n"
        "- 건강, 법, 안전, 돈에 대한 조언이나 사람에 대한 판단에는 쓰지 마세요.\n- 백과사전식 글과 긴 "
        "글은 일상 글보다 "
        "못 읽습니다.\n- 영어 모델입니다. 한국어 질문은 먼저 영어 낱말로 옮겨 읽습니다.\n- 그래프가 "
        "모르는 것은 추측할 "
        "뿐입니다.",
    ),
    "about_privacy": ("Your texts", "여러분의 글"),
    "about_privacy_text": (
        "Questions stay in this browser and in the memory of the machine that runs the app. Your thumbs "
        "and notes are "
        "kept there in {file}, a line each; `kgqa train` reads those whose right answer is known. "
        "Nothing is sent "
        "elsewhere.",
        "질문은 이 브라우저와 앱을 돌리는 컴퓨터의 메모리에만 남습니다. 평가와 메모는 그 컴퓨터의 "
        "{file}에 한 줄씩 "
        "저장되며, 올바른 답을 아는 줄은 `kgqa train`이 읽습니다. 다른 곳으로 보내지 않습니다.",
    ),
    "about_keys": ("Keys", "단축키"),
    "about_keys_text": (
        "- **Enter** in the question, **Ctrl+Enter** in the passage: ask\n- **↑ ↓** in the question: "
        "earlier and later questions",
        "- 질문에서 **Enter**, 지문에서 **Ctrl+Enter**: 묻기\n- 질문에서 **↑ ↓**: 이전과 다음 질문",
    ),
    "about_licence": (
        "Code and weights Apache-2.0; the graph of everyday knowledge CC BY 4.0.",
        "코드와 가중치 Apache-2.0, 일상 지식 그래프 CC BY 4.0.",
    ),
}


def text(key: str, language: str = "en", **values: object) -> str:
    """A text in a language (English for one that is not known), with its values filled in.

    Of a Korean particle with two forms the one is said that follows the word: 모종삽이, 굴착기가.
    """
    said = TEXTS[key][1 if language == "ko" else 0].format(**values)
    if language != "ko" or "(" not in said:
        return said
    from kgqa.korean.saying import with_particle

    return _PARTICLES.sub(lambda found: with_particle(found[1], found[2].partition("(")[0] or "으로"), said)
