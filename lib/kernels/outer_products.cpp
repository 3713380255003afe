#include "kernels/outer_products.h"

#define HWY_TARGET_INCLUDE "kernels/outer_products_inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/outer_products_inl.h"

#if HWY_ONCE
namespace qtool::kernels {
namespace {

HWY_EXPORT(add_outer_products);

}  // namespace

void add_outer_products(std::span<const double> rows, std::size_t length, std::span<double> upper) {
  HWY_DYNAMIC_DISPATCH(add_outer_products)
  (rows.data(), rows.size() / row_stride(length), length, upper.data());
}

}  // namespace qtool::kernels
#endif
