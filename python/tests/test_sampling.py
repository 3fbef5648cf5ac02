"""Top-p sampling, the example of README.md, against a sampler that goes row by row."""

import doctest
from pathlib import Path

import numpy as np
import pytest

import subsweep


def _example():
    text = (Path(__file__).parents[1] / "README.md").read_text()
    code = next(part.source for part in doctest.DocTestParser().get_examples(text) if "def top_p" in part.source)
    names = {"np": np, "subsweep": subsweep}
    exec(code, names)
    return names["top_p"]


def _reference(logits, p, uniform):
    drawn = []
    for row, number in zip(logits.astype(np.float64), uniform):
        probabilities = np.exp(row - row.max())
        probabilities /= probabilities.sum()
        order = np.argsort(-row, kind="stable")
        sums = np.cumsum(probabilities[order])
        nucleus = order[: np.searchsorted(sums, p) + 1]
        sums = np.cumsum(probabilities[nucleus])
        drawn.append(nucleus[np.searchsorted(sums / sums[-1], number, side="right")])
    return np.array(drawn)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("shape", [(1, 50_257), (64, 1000), (300, 7)])
def test_tokens_are_those_of_the_reference(shape, p):
    rng = np.random.default_rng(sum(shape))
    logits = (3 * rng.standard_normal(shape)).astype(np.float32)
    # Of equal logits the first token is the likelier.
    logits[:, ::5] = logits[:, :1]
    for _ in range(3):
        uniform = rng.random(len(logits))
        np.testing.assert_array_equal(_example()(logits, p, uniform), _reference(logits, p, uniform))


def test_the_likeliest_token_is_always_in_the_nucleus():
    logits = np.array([[0.0, 3.0, 1.0], [2.0, 2.0, -np.inf]], np.float32)
    np.testing.assert_array_equal(_example()(logits, 1e-6, np.array([0.0, 0.999])), [1, 0])
    np.testing.assert_array_equal(_example()(logits, 1.0, np.array([0.999999, 0.999999])), [0, 1])
