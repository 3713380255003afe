#!/usr/bin/env python3
"""Quantizes generated models with qtool's preset onnxruntime and with onnxruntime.quantization, and compares the results.

usage: differential.py QTOOL CACHE_DIR [--command static|dynamic] [--quick] [--op TYPE] [--model NAME] [--option WORD] [--format QDQ|QOperator] [--types A-W]
                       [--opset N] [--limit N] [--jobs N] [-v] [--show ID] [--list]

Where the peer's result loads, nodes and initializers must be equal, unless ours is measurably nearer to the float model; where the
peer fails or its result does not load, ours must load and be near the float model. Both read the same calibration cache.
"""
import argparse
import collections
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile

import onnx

from combinations import MODELS, all_combinations
from comparison import difference, side_by_side
from deliberate import reason_of
from graph import Graph
from options import config, keyword_arguments
from peer import Peer, measured

# Nearness that any sound quantization of these models has: by the fewest bits in use, cosine to the float model.
LEAST_COSINE = {16: 0.995, 8: 0.96, 4: 0.5}
# Models that a range per tensor cannot represent: the fill of a mask takes all of it.
LEAST_COSINE_OF = {"where_mask": 0.7}
# In dB: what counts as nearer or as far as much.
CLEARLY_NEARER = 6
GOOD_ENOUGH = 60
# Messages by which the peer refuses a combination of types on purpose.
REFUSALS = ("doesn't support data format", "supports 16-bit quantization types", "calibration method is supported for float")
Outcome = collections.namedtuple("Outcome", "combination verdict category text")


def float_model(combination):
    """The model and the inputs it is measured on."""
    graph = Graph(combination.opset, combination.model, combination.half)
    MODELS[combination.model][1](graph)
    return graph.model(), graph.feeds()


def is_quantized(model):
    return any("Quantize" in n.op_type or n.op_type.startswith("Q") or n.op_type.endswith("Integer") for n in model.graph.node)


class Trial:
    """One combination, quantized by both."""

    def __init__(self, combination, peer, qtool, preset):
        self.combination, self.peer, self.qtool, self.preset = combination, peer, qtool, preset
        self.options = keyword_arguments(combination, peer.model)

    def ours(self, load_check):
        """(exit code, last line of stderr, model or None)"""
        command = self.combination.command
        method, cache = self.peer.cache_text(self.options) if command == "static" else (None, "")
        with tempfile.TemporaryDirectory() as work:
            source, target, ranges, settings = (os.path.join(work, n) for n in ("m.onnx", "q.onnx", "cache.json", "config.json"))
            with open(source, "wb") as file:
                file.write(self.peer.bytes)
            calibration = (ranges, method.name.lower()) if method else (None, None)
            for place, text in ((ranges, cache), (settings, config(self.options, source, target, *calibration, self.preset))):
                with open(place, "w", encoding="utf-8") as file:
                    file.write(text)
            command = [self.qtool, command, "-c", settings, "-q", "--threads", "1"] + ([] if load_check else ["--no-load-check"])
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            line = next((l for l in done.stderr.splitlines() if "error:" in l), "").replace(work + "/", "")
            return done.returncode, line, onnx.load(target) if done.returncode == 0 else None

    def outcome(self):
        verdict, category, text = self.judged()
        return Outcome(self.combination, verdict, category, text)

    def judged(self):
        theirs = self.peer.answer(self.options)
        code, line, model = self.ours(load_check=False)
        if code == 2 and "not available yet" in line:
            return "refused", line.split("error:")[-1].strip(), line
        if code == 2 and theirs["error"] and any(words in theirs["error"] for words in REFUSALS):
            return "equal", "", ""
        if code != 0:
            return "different", f"exit {code}", f"{line}, the peer: {theirs['error'] or 'done'}"
        if self.preset != "onnxruntime":
            return self.as_good(model, theirs)
        found = None if theirs["error"] else difference(model, theirs["model"])
        if not theirs["error"] and not theirs["load_error"] and found is None:
            return "equal", "", ""
        return self.compared(model, theirs, found)

    def as_good(self, model, theirs):
        """Of a preset that places pairs in its own way: as near to float as the peer, where that has a result."""
        mine = measured(model, self.peer.feeds, self.peer.reference)
        fault = self.fault(model, mine, {})
        if fault:
            return "different", fault[0], fault[1]
        if theirs["error"] or theirs["load_error"] or mine["sqnr"] >= min(theirs["sqnr"] - CLEARLY_NEARER, GOOD_ENOUGH):
            return "equal", "", ""
        return "different", "farther than the peer", f"sqnr {mine['sqnr']:.1f} dB, the peer {theirs['sqnr']:.1f} dB"

    def compared(self, model, theirs, found):
        """Not equal to a peer's result that loads: judged by what the models compute."""
        trouble = theirs["error"] or theirs["load_error"]
        mine = measured(model, self.peer.feeds, self.peer.reference)
        note = f"the peer: {trouble}" if trouble else found[1]
        category = "the peer fails" if theirs["error"] else "the peer does not load" if trouble else found[0]
        fault = self.fault(model, mine, theirs)
        if fault:
            return "different", f"{category}; {fault[0]}", f"{fault[1]}; {note}"
        near = f"sqnr {mine['sqnr']:.1f} dB"
        if trouble:
            return "deliberate", category, f"{near}; {note}"
        near += f", the peer {theirs['sqnr']:.1f} dB"
        if theirs["cosine"] < self.least_cosine() and theirs["sqnr"] < mine["sqnr"] - CLEARLY_NEARER:
            return "deliberate", "the peer is far from float", f"{near}; {note}"
        reason = reason_of(self.combination)
        if reason and mine["sqnr"] >= theirs["sqnr"] - CLEARLY_NEARER:
            return "deliberate", reason, f"{near}; {note}"
        return "different", category, f"{note} ({near})"

    def fault(self, model, mine, theirs):
        """(category, text) of what makes our own result unfit, or None."""
        if "model" in theirs and is_quantized(theirs["model"]) and not is_quantized(model):
            return "ours stays in float", "nothing is quantized"
        try:
            onnx.checker.check_model(model)
        except Exception as e:
            return "ours fails the checker", str(e).splitlines()[0]
        if mine["load_error"]:
            return "ours does not load", mine["load_error"]
        if mine["cosine"] < self.least_cosine():
            return "ours is far from float", f"cosine {mine['cosine']:.4f}, sqnr {mine['sqnr']:.1f} dB"
        return None

    def least_cosine(self):
        if self.combination.model in LEAST_COSINE_OF:
            return LEAST_COSINE_OF[self.combination.model]
        words = self.combination.types + str(self.options["extra_options"].get("TensorQuantOverrides", ""))
        return LEAST_COSINE[4 if "int4" in words else 16 if "8" not in words else 8]

    def shown(self):
        theirs, (code, line, model) = self.peer.answer(self.options), self.ours(load_check=False)
        lines = [f"exit {code} {line}", f"the peer: {theirs['error'] or theirs['load_error'] or 'loads, sqnr %.1f dB' % theirs['sqnr']}"]
        if model is not None:
            mine = measured(model, self.peer.feeds, self.peer.reference)
            lines.append(f"ours: {mine['load_error'] or 'loads, sqnr %.1f dB' % mine['sqnr']}")
        empty = onnx.ModelProto()
        return "\n".join([*lines, side_by_side(model or empty, theirs.get("model") or empty)])


def trials(group, qtool, folder, preset):
    """Of combinations that share a float model."""
    peer = Peer(*float_model(group[0]), folder)
    for combination in group:
        trial = Trial(combination, peer, qtool, preset)
        if trial.options is not None:
            yield trial


def outcomes(task):
    return [trial.outcome() for trial in trials(*task)]


def chosen(args):
    found = all_combinations(args.quick, args.command)
    tests = [(args.op, lambda c: c.op_type), (args.model, lambda c: c.model), (args.format, lambda c: c.quant_format),
             (args.types, lambda c: c.types), (args.opset, lambda c: c.opset)]
    for wanted, get in tests:
        found = [c for c in found if wanted is None or get(c) == wanted]
    found = [c for c in found if args.option is None or args.option in c.id.split("/")]
    return found[: args.limit]


def grouped(combinations):
    groups = collections.defaultdict(list)
    for c in combinations:
        groups[c.model, c.opset, c.half].append(c)
    return sorted(groups.values(), key=len, reverse=True)


def print_summary(results):
    counts = collections.Counter(r.verdict for r in results)
    for verdict in ("refused", "deliberate", "different"):
        by_category = collections.Counter((r.combination.op_type, r.category) for r in results if r.verdict == verdict)
        for (op_type, category), n in by_category.most_common():
            example = next(r for r in results if r.verdict == verdict and (r.combination.op_type, r.category) == (op_type, category))
            print(f"{verdict:10} {n:5} {op_type}: {category}   e.g. {example.combination.id}: {example.text}")
    refused = f", {counts['refused']} refused" * bool(counts["refused"])
    print(f"differential: {counts['equal']} equal, {counts['deliberate']} deliberate, {counts['different']} different{refused} of {len(results)}")
    return counts


def parsed():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("qtool")
    parser.add_argument("cache")
    for flag in ("--op", "--model", "--option", "--format", "--types", "--show"):
        parser.add_argument(flag)
    for flag in ("--opset", "--limit"):
        parser.add_argument(flag, type=int)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    for flag in ("--quick", "--list"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--command", choices=["static", "dynamic"], default="static")
    parser.add_argument("--preset", default="onnxruntime")
    parser.add_argument("-v", "--verbose", action="store_true")
    return parser.parse_args()


def compared(combinations, qtool, folder, args):
    """The outcomes in the order of their ids."""
    results = []
    with tempfile.TemporaryDirectory() as work, multiprocessing.Pool(args.jobs) as pool:
        qtool = shutil.copy(qtool, work)                 # a build may replace it meanwhile
        for found in pool.imap_unordered(outcomes, [(g, qtool, folder, args.preset) for g in grouped(combinations)]):
            results += found
            for r in found:
                if r.verdict == "different" and args.verbose:
                    print(f"{r.verdict}: {r.combination.id}: {r.category}: {r.text}", flush=True)
    return sorted(results, key=lambda r: r.combination.id)


def main():
    args = parsed()
    qtool, folder = os.path.abspath(args.qtool), os.path.abspath(args.cache)
    if args.show:
        (combination,) = (c for c in all_combinations(False, args.command) if c.id == args.show)
        print(next(trials([combination], qtool, folder, args.preset)).shown())
        return 0
    combinations = chosen(args)
    if args.list:
        print(*(c.id for c in combinations), sep="\n")
        return 0
    counts = print_summary(compared(combinations, qtool, folder, args))
    return int(counts["different"] > 0 or not counts)


if __name__ == "__main__":
    sys.exit(main())
