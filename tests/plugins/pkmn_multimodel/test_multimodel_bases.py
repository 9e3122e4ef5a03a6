"""Base models that are read from files."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import pytest
import torch

from pkmn_multimodel.population.bases import loaded
from pkmn_multimodel.population.tiny import tiny_model

PROMPT = "Coins. keep or share? Answer:"
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers": "blk",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""Name of a GGUF file for each part of a weight's name."""


def write_gguf(path: Path) -> torch.nn.Module:
    """Write a very small model as llama.cpp does. Return it."""
    model, tokenizer = tiny_model([(PROMPT, ("keep", "share"))], steps=1)
    config, about = model.config, json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(sorted(about["vocab"], key=about["vocab"].get))
    writer.add_token_merges([" ".join(pair) for pair in about["merges"]])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    for name, weights in model.state_dict().items():
        values = weights.numpy()
        if "q_proj" in name or "k_proj" in name:  # llama.cpp orders these rows in another way
            heads = config.num_attention_heads
            values = values.reshape(heads, 2, -1, config.hidden_size).swapaxes(1, 2).reshape(values.shape)
        of_file = name
        for part, other in NAMES.items():
            of_file = of_file.replace(part, other)
        writer.add_tensor(of_file, values.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def test_a_gguf_file_is_read_with_its_weights_and_without_a_progress_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = write_gguf(tmp_path / "small.gguf")
    model, tokenizer = loaded(str(tmp_path / "small.gguf"), "float32", "cpu", "multimodel.base")
    asked = tokenizer(PROMPT, return_tensors="pt")
    with torch.no_grad():
        assert torch.allclose(model(**asked).logits, written(**asked).logits, atol=1e-5)
    assert tokenizer.decode(asked["input_ids"][0]) == PROMPT
    assert "%" not in capsys.readouterr().err
