#include "float16/contrib_rows.h"

#include <algorithm>
#include <iterator>

namespace qtool {
namespace {

/// Sorted by op_type. The domain is com.microsoft, but for operators that ONNX Runtime has in
/// ONNX's own beside it.
constexpr ContribTypes kContribTypes[] = {
    {"Attention", "TTT-TT-", "T", true},
    {"BiasAdd", "T", "T"},
    {"BiasDropout", "TTTf-", "T-", true},
    {"BiasGelu", "T", "T", true},
    {"BiasSoftmax", "T", "T"},
    {"BiasSplitGelu", "T", "T"},
    {"BitmaskBiasDropout", "TTTf-", "T-", true},
    {"BitmaskDropout", "Tf-", "T-", true},
    {"CausalConvWithState", "T", "T", true},
    {"ComplexMul", "T", "T"},
    {"ComplexMulConj", "T", "T"},
    {"ConvTransposeWithDynamicPads", "TT-T", "T"},
    {"DecoderAttention", "TTTTT-TT-", "T"},
    {"DecoderMaskedMultiHeadAttention", "TTT-TTT---T", "TTTf"},
    {"DecoderMaskedSelfAttention", "TTT-TT-", "T"},
    {"EmbedLayerNormalization", "--TTTTT-", "T-T"},
    {"ExpandDims", "T-", "T"},
    {"FastGelu", "T", "T", true},
    {"FusedConv", "T", "T"},
    {"FusedGemm", "T", "T"},
    {"FusedMatMul", "T", "T", true},
    {"FusedMatMulActivation", "T", "T", true},
    {"GatedRelativePositionBias", "TTTTTT-", "T"},
    {"GatherBlockQuantized", "--T-", "T", true},
    {"GatherND", "T-", "T"},
    {"Gelu", "T", "T", true},
    {"GemmFastGelu", "T", "T", true},
    // The scale and bias of a channel stay in float32.
    {"GroupNorm", "Tff", "T"},
    {"GroupQueryAttention", "TTTTT--TT-TTffTT-", "T", true},
    {"Inverse", "T", "T"},
    {"Irfft", "T", "T"},
    {"LayerNormalization", "T", "Tf", true},
    {"LongformerAttention", "TTTTTT-", "T"},
    {"MatMulBnb4", "T-T", "T", true},
    {"MatMulNBits", "T-TS-T", "T", true},
    {"MoE", "T", "T", true},
    {"MultiHeadAttention", "TTTT-TTT--", "TTTf", true},
    {"NhwcConv", "T", "T"},
    {"NhwcFusedConv", "T", "T"},
    {"PackedAttention", "TTT--T", "T"},
    {"PackedMultiHeadAttention", "TTTT--T", "T"},
    {"Pad", "T-T", "T"},
    {"QuickGelu", "T", "T", true},
    {"RelativePositionBias", "T-", "T"},
    {"RemovePadding", "T-", "T-"},
    {"RestorePadding", "T-", "T"},
    {"Rfft", "T", "T"},
    {"RotaryEmbedding", "T-TT", "T", true},
    {"SimplifiedLayerNormalization", "T", "Tf", true},
    {"SkipGroupNorm", "TffTT", "T"},
    {"SkipLayerNormalization", "T", "TffT", true},
    {"SkipSimplifiedLayerNormalization", "T", "TffT", true},
    {"SparseAttention", "TTTTT----TT", "T", true},
    {"TransposeMatMul", "T", "T", true},
    {"Trilu", "T-", "T", true},
    {"UnfoldTensor", "T", "T", true},
};
static_assert(std::ranges::is_sorted(kContribTypes, {}, &ContribTypes::op_type),
              "keep kContribTypes sorted by op_type");

}  // namespace

const ContribTypes* find_contrib_types(std::string_view domain, std::string_view op_type) {
  if (domain != "com.microsoft" && !domain.empty() && domain != "ai.onnx") return nullptr;
  const auto* row = std::ranges::lower_bound(kContribTypes, op_type, {}, &ContribTypes::op_type);
  return row == std::end(kContribTypes) || row->op_type != op_type ? nullptr : row;
}

}  // namespace qtool
