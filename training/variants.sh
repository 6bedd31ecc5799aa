#!/bin/sh
# Every variant at equal tokens, 4 layers x 128, one tokenizer, one corpus, one seed: sh training/variants.sh [TOKENS]
# Needs the corpus of runs/kgqa-mini (made by the first minutes of recipes/pretrain/mini-cpu.toml) and KGQA_DATA.
tokens=${1:-1000000}
small="encoder.hidden_size=128 encoder.num_hidden_layers=4 encoder.num_attention_heads=2 encoder.intermediate_size=512
 encoder.embedding_size=64 tokenizer.folder=training/models/kgqa-mini data.corpus=runs/kgqa-mini/corpus
 objective.mask_share=0.15 trainer.max_tokens=$tokens trainer.optimizer=muon trainer.learning_rate=2e-3
 trainer.schedule=linear trainer.warmup=0.1 trainer.evaluate_every_steps=100000"
run() { # name, variant, objective, further settings
    name=$1 variant=$2 objective=$3
    shift 3
    # shellcheck disable=SC2086
    kgqa pretrain training/recipes/pretrain/mini-cpu.toml --out "runs/variants/$name" $small \
        name="$name" encoder.variant="$variant" objective.name="$objective" "$@"
}
run modernbert modernbert mlm
run modernbert-adamw modernbert mlm trainer.optimizer=adamw
run modernbert-whole-words modernbert mlm objective.whole_words=true
run roberta roberta mlm
run bert-static roberta mlm objective.static_masks=true
run bert-nsp bert nsp objective.static_masks=true
run albert-sop albert sop
run deberta deberta mlm
run electra-es electra rtd objective.sharing=es
run deberta-v3-gdes deberta-v3 rtd objective.sharing=gdes
run modernbert-gdes modernbert rtd objective.sharing=gdes
run gpt2 gpt2 clm
run gpt1 gpt1 clm
run distilbert distilbert distilbert objective.teacher=runs/variants/roberta/export encoder.num_hidden_layers=2
python - <<'END'
import json
from pathlib import Path

for log in sorted(Path("runs/variants").glob("*/log.jsonl")):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    held_out = {k.removeprefix("held_out_"): round(v, 3) for k, v in lines[-1].items() if k.startswith("held_out_")}
    speed = [line["tokens_per_s"] for line in lines if "tokens_per_s" in line]
    print(log.parent.name, lines[-1]["tokens"], held_out, f"{sorted(speed)[len(speed) // 2]:,.0f} tokens/s")
END
