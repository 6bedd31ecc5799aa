from pathlib import Path

import torch

from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model
from kgqa.models.language_model import is_causal, load_language_model


def test_what_a_configuration_reads_like() -> None:
    assert is_causal("gpt2", ()) and is_causal("llama", ["LlamaForCausalLM"])
    assert is_causal("openai-gpt", ["OpenAIGPTLMHeadModel"])
    assert not is_causal("bert", ["BertForMaskedLM"]) and not is_causal("xlnet", ["XLNetLMHeadModel"])


def test_a_causal_model_is_judged_by_what_stands_before(
    tokenizer, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    settings = EncoderSettings(variant="gpt1", max_position_embeddings=32, **sizes)  # type: ignore[arg-type]
    save_model(build_language_model(settings, tokenizer.get_vocab_size()), tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    model = load_language_model(tmp_path, device="cpu")
    assert model is not None and model.causal and model.device.type == "cpu"
    row = [2, 7, 8, 9]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        logits = model.model(input_ids=torch.tensor([row])).logits[0].float()
    found = model.losses([row], [([8, 9], torch.tensor([2, 3]))])
    assert torch.allclose(found, -logits.log_softmax(-1)[[1, 2], [8, 9]], atol=0.05)
