"""Which options each model is quantized with: every pair of choices that can influence each other, not all at once."""
import dataclasses
import itertools
import random

from models_of_layouts import NETWORKS, layouts
from models_of_operators import OPERATORS
from models_of_run_time import RUN_TIME

STATIC_MODELS = OPERATORS | layouts()
MODELS = STATIC_MODELS | RUN_TIME
OPSETS = [11, 12, 13, 15, 17, 19, 21, 22]
SINCE = {"LayerNormalization": 17}
# The first model of each operator and the networks get all combinations, the others those that placement depends on.
LEADING = set({op_type: model for model, (op_type, _) in reversed(STATIC_MODELS.items())}.values()) | set(NETWORKS)
HALF_MODELS = ("conv relu_between_convs gemm gemm_beta_1 matmul add_constant softmax_after_conv layer_norm clip_6 max_pool_after_conv "
               "pad_value_after_conv residual attention reference_trace").split()

TYPES = ("int8-int8 uint8-int8 uint8-uint8 int8-uint8 int16-int8 uint16-int8 uint8-int16 uint16-uint16 int16-int16 "
         "uint16-uint8 uint8-int4 int8-int4 uint16-int4 uint8-uint4 int4-int4 uint4-uint4 float8e4m3fn-float8e4m3fn "
         "float8e4m3fn-int8").split()
BOTH = (False, True)
INTEGER_TYPES = "int8-int8 uint8-int8 uint8-uint8".split()

# One at a time, on top of two bases; each is (name in the id, extra options).
EXTRA_OPTIONS = [
    ("pair_to_weight", {"AddQDQPairToWeight": True}),
    ("dedicated_pair", {"DedicatedQDQPair": True}),
    ("no_bias", {"QuantizeBias": False}),
    ("real_range", {"MinimumRealRange": 0.0001}),
    ("real_range_5", {"MinimumRealRange": 5.0}),
    ("force", {"ForceQuantizeNoInputCheck": True}),
    ("no_out_conv", {"OpTypesToExcludeOutputQuantization": ["Conv", "MatMul", "Gemm"]}),
    ("no_out_relu", {"OpTypesToExcludeOutputQuantization": ["Relu", "Clip", "Add", "Softmax"]}),
    ("no_out_moves", {"OpTypesToExcludeOutputQuantization": ["Reshape", "Transpose", "Gather", "Pad", "Split", "MaxPool", "Where"]}),
    ("keep_relu", {"QDQKeepRemovableActivations": True}),
    ("no_weight_adjust", {"QDQDisableWeightAdjustForInt32Bias": True}),
    ("axis_map", {"QDQOpTypePerChannelSupportToAxis": {"MatMul": 0, "LayerNormalization": 0, "Conv": 0, "BatchNormalization": 0,
                                                       "InstanceNormalization": 0}}),
    ("axis_map_last", {"QDQOpTypePerChannelSupportToAxis": {"MatMul": -1, "LayerNormalization": -1}}),
    ("contrib", {"UseQDQContribOps": True}),
    ("block_4", {"BlockSize": 4}),
    ("restricted", {"ActivationRestrictedAsymmetric": True}),
    ("const_b", {"MatMulConstBOnly": True}),
    ("subgraph", {"EnableSubgraph": True}),
    ("nnapi", {"extra.Sigmoid.nnapi": True}),
]

# What differs from quantizing everything, by keyword of quantize_static.
SELECTIONS = [
    ("only_conv", {"op_types_to_quantize": ["Conv", "Gemm", "MatMul"]}),
    ("with_unlisted", {"op_types_to_quantize": ["Conv", "MatMul", "Tanh", "Sub", "Div", "Neg", "Relu", "Constant"]}),
    ("not_first", {"exclude_first": True}),
    ("only_first", {"only_first": True}),
]

# Overrides name a tensor by its place: the first activation that a node makes, the first float initializer, a graph input.
OVERRIDES = [
    ("first_16", {"made": {"quant_type": "uint16"}}),
    ("first_16_symmetric", {"made": {"quant_type": "int16", "symmetric": True}}),
    ("first_range", {"made": {"rmin": -4.0, "rmax": 4.5}}),
    ("first_scale", {"made": {"scale": 0.05, "zero_point": 60}}),
    ("first_convert", {"made": {"quant_type": "uint8", "convert": {"quant_type": "uint16"}}}),
    ("input_convert", {"input": {"quant_type": "uint16", "convert": {"quant_type": "uint8", "symmetric": True}}}),
    ("last_symmetric", {"last": {"symmetric": True}}),
    ("weight_uint8", {"weight": {"quant_type": "uint8", "symmetric": False}}),
    ("weight_empty", {"weight": {}}),
    ("weight_axis", {"weight": {"axis": 0}}),
    ("weight_range", {"weight": {"rmin": -1.0, "rmax": 1.0}}),
    ("weight_reduced", {"weight": {"reduce_range": True}}),
    ("bias_int8", {"bias": {"quant_type": "int8"}}),
    ("weight_int4", {"weight": {"quant_type": "int4"}}),
]


@dataclasses.dataclass(frozen=True)
class Combination:
    """One model and the options it is quantized with."""
    model: str
    opset: int
    half: bool = False
    types: str = "int8-int8"
    per_channel: bool = False
    reduce_range: bool = False
    quant_format: str = "QDQ"                            # or "dynamic": no format, another command
    option: str = ""                                     # name of one of the tables above, or "symmetric=..."
    activation_symmetric: bool = None
    weight_symmetric: bool = None

    @property
    def op_type(self):
        return MODELS[self.model][0]

    @property
    def activation_type(self):
        return self.types.split("-")[0]

    @property
    def weight_type(self):
        return self.types.split("-")[1]

    @property
    def command(self):
        return "dynamic" if self.quant_format == "dynamic" else "static"

    @property
    def id(self):
        words = [self.model + (":half" if self.half else ""), f"o{self.opset}", self.types, self.quant_format]
        words += ["pc"] * self.per_channel + ["reduced"] * self.reduce_range
        words += [f"act_sym={self.activation_symmetric}"] * (self.activation_symmetric is not None)
        words += [f"weight_sym={self.weight_symmetric}"] * (self.weight_symmetric is not None)
        return "/".join(words + [self.option] * bool(self.option))

    @property
    def extra_options(self):
        options = dict(dict(EXTRA_OPTIONS + RUN_TIME_OPTIONS).get(self.option, {}))
        if self.activation_symmetric is not None:
            options["ActivationSymmetric"] = self.activation_symmetric
        if self.weight_symmetric is not None:
            options["WeightSymmetric"] = self.weight_symmetric
        return options


def opsets_of(model):
    return [o for o in OPSETS if o >= SINCE.get(MODELS[model][0], 11)]


def of_model(model):
    """All combinations of one model."""
    opsets = opsets_of(model)
    middle = 17 if 17 in opsets else opsets[0]
    is_leading = model in LEADING
    for opset, (types, channels) in itertools.product(opsets, (("int8-int8", False), ("uint8-int8", True), ("uint8-uint8", False))):
        yield Combination(model, opset, types=types, per_channel=channels)
    for types in TYPES:
        yield Combination(model, middle, types=types)
    if opsets[0] == 11:
        yield Combination(model, 12, types="uint16-int8")
    for option, _ in EXTRA_OPTIONS + SELECTIONS + OVERRIDES:
        opset = 21 if option == "block_4" else middle
        yield Combination(model, opset, types="uint8-int8", per_channel=True, option=option)
        if is_leading:
            yield Combination(model, opset, option=option)
    for channels in BOTH:
        yield Combination(model, middle, quant_format="QOperator", types="uint8-int8", per_channel=channels)
        yield Combination(model, max(13, opsets[0]), types="uint8-int8", per_channel=channels, activation_symmetric=True)
    if is_leading:
        yield from of_types(model, middle)
        yield from in_qoperator_format(model, middle)
    if model in HALF_MODELS:
        yield from in_half(model, opsets)


def of_types(model, middle):
    """Types with everything that their range depends on."""
    for types, channels in itertools.product(TYPES, BOTH):
        yield Combination(model, middle, types=types, per_channel=channels)
        if "16" in types or "4" in types:
            yield Combination(model, 21, types=types, per_channel=channels)
    for a, w, types, channels in itertools.product(BOTH, (None, *BOTH), INTEGER_TYPES, BOTH):
        yield Combination(model, max(13, middle), types=types, per_channel=channels, activation_symmetric=a, weight_symmetric=w)
    for types, a in itertools.product(("uint16-uint8", "uint4-uint4", "int16-int8"), BOTH):
        yield Combination(model, 21, types=types, per_channel=True, activation_symmetric=a, weight_symmetric=not a)
    for types, channels in itertools.product(("int8-int8", "uint8-uint8", "uint16-uint16", "uint8-int4"), BOTH):
        yield Combination(model, 21, types=types, per_channel=channels, reduce_range=True)


def in_half(model, opsets):
    """The model in float16."""
    for opset, types, channels in itertools.product((17, 19, 21), ("int8-int8", "uint8-int8", "uint16-int8"), BOTH):
        if opset in opsets:
            yield Combination(model, opset, half=True, types=types, per_channel=channels)


def in_qoperator_format(model, middle):
    """What that format knows of."""
    base = Combination(model, middle, quant_format="QOperator")
    for types, channels, reduced in itertools.product(INTEGER_TYPES + ["int8-uint8", "uint16-int8"], BOTH, BOTH):
        yield dataclasses.replace(base, types=types, per_channel=channels, reduce_range=reduced)
    for opset in opsets_of(model):
        yield dataclasses.replace(base, opset=opset, types="uint8-int8", per_channel=True)
    for a, w in itertools.product(BOTH, (None, *BOTH)):
        yield dataclasses.replace(base, types="uint8-uint8", activation_symmetric=a, weight_symmetric=w)
    for option in ("nnapi", "const_b", "force", "real_range_5", "no_bias", "only_conv", "not_first", "only_first", "restricted",
                   "weight_empty", "first_range"):
        yield dataclasses.replace(base, types="uint8-int8", option=option)


# Operators that quantization at run time touches, beside the networks.
AT_RUN_TIME = "Attention Conv EmbedLayerNormalization GRU Gather Gemm LSTM MatMul RNN Transpose".split()
HALF_AT_RUN_TIME = "conv gemm gemm_beta_1 matmul add_constant residual attention reference_trace embedding gather_into_matmul gather_moved".split()
RUN_TIME_OPTIONS = [
    ("any_b", {"MatMulConstBOnly": False}),
    ("subgraph", {"EnableSubgraph": True}),
    ("force", {"ForceQuantizeNoInputCheck": True}),
    ("real_range_5", {"MinimumRealRange": 5.0}),
    ("default_type", {"DefaultTensorType": 1}),
]
RUN_TIME_SELECTIONS = [
    ("only_matmul", {"op_types_to_quantize": ["MatMul"]}),
    ("only_conv", {"op_types_to_quantize": ["Conv"]}),
    ("no_conv", {"op_types_to_quantize": ["MatMul", "Attention", "LSTM", "Gather", "Transpose", "EmbedLayerNormalization"]}),
    ("not_first", {"exclude_first": True}),
    ("only_first", {"only_first": True}),
]


def of_model_at_run_time(model):
    """All combinations of one model for `dynamic`."""
    opsets = opsets_of(model)
    base = Combination(model, 17 if 17 in opsets else opsets[0], types="uint8-int8", quant_format="dynamic")
    for opset in opsets:
        yield dataclasses.replace(base, opset=opset)
        yield dataclasses.replace(base, opset=opset, per_channel=True)
    for types, channels, reduced, w in itertools.product(("uint8-int8", "uint8-uint8"), BOTH, BOTH, (None, *BOTH)):
        yield dataclasses.replace(base, types=types, per_channel=channels, reduce_range=reduced, weight_symmetric=w)
    for (option, _), channels in itertools.product(RUN_TIME_OPTIONS + RUN_TIME_SELECTIONS, BOTH):
        yield dataclasses.replace(base, per_channel=channels, option=option)
    for option in ("weight_uint8", "weight_empty", "weight_range", "weight_reduced"):
        yield dataclasses.replace(base, option=option)
    yield dataclasses.replace(base, activation_symmetric=True)
    for opset in (17, 19, 21):
        if opset in opsets and model in HALF_AT_RUN_TIME:
            yield dataclasses.replace(base, opset=opset, half=True)


def all_combinations(quick, command="static"):
    """Each once; the quick ones are the same at every run."""
    if command == "dynamic":
        models = [m for m, (op_type, _) in MODELS.items() if op_type in AT_RUN_TIME or m in NETWORKS]
        found = list(dict.fromkeys(c for model in models for c in of_model_at_run_time(model)))
    else:
        found = list(dict.fromkeys(c for model in STATIC_MODELS for c in of_model(model)))
    if not quick:
        return found
    return sorted(random.Random(1).sample(found, 600), key=found.index)
