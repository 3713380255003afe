#include "runtime/optimize.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "model/graph_view.h"
#include "model/tensor_walk.h"

namespace qtool {
namespace {

/// A file without a name, which ends with this object: ONNX Runtime reads and writes models by
/// path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("model", MFD_CLOEXEC)) {
    if (descriptor_ < 0)
      throw Error(ErrorKind::Io, "preprocess.optimization: the system gives no memory file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  void write(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count <= 0)
        throw Error(ErrorKind::Io, "preprocess.optimization: the memory file cannot be written");
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  int descriptor_;
};

/// The model as one message with all its weights.
std::string serialize_whole(const Model& model) {
  onnx::ModelProto proto = model.proto();
  std::uint64_t total = 0;
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int32_t>::max();
  TensorWalk::model(proto, [&](onnx::TensorProto& tensor, const TensorPlace&) {
    if (tensor.data_type() == onnx::TensorProto::STRING) return;
    const auto bytes = model.tensor_bytes(tensor);
    total += bytes.size();
    if (total > kLimit || tensor.has_raw_data()) return;
    std::string values(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(std::move(values));
  });
  std::string out;
  if (total > kLimit || !proto.SerializeToString(&out)) {
    throw Error(ErrorKind::Input,
                "preprocess.optimization: the model is beyond 2 GB, which ONNX Runtime cannot "
                "write in one piece",
                "leave it at none: the runtime optimizes the model when it loads it");
  }
  return out;
}

/// Imports that nothing needs: ONNX Runtime writes all domains that it knows.
void drop_unused_imports(onnx::ModelProto& proto) {
  std::set<std::string> used{""};
  for_each_graph(std::as_const(proto).graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& node : graph.node())
      used.insert(is_default_domain(node.domain()) ? "" : node.domain());
  });
  auto& imports = *proto.mutable_opset_import();
  imports.erase(std::remove_if(imports.begin(), imports.end(),
                               [&](const auto& import) {
                                 return !used.contains(
                                     is_default_domain(import.domain()) ? "" : import.domain());
                               }),
                imports.end());
}

}  // namespace

Model optimize_by_runtime(const Model& model, SessionConfig::Optimization level) {
  MemoryFile before, after;
  before.write(serialize_whole(model));
  SessionConfig config;
  config.optimization = level;
  config.optimized_model = after.path();
  { const Session session(before.path(), config); }
  onnx::ModelProto made;
  if (!made.ParseFromString(read_file(after.path(), std::uint64_t{1} << 31)))
    throw Error(ErrorKind::Internal, "preprocess.optimization: ONNX Runtime wrote no model");
  onnx::ModelProto proto = model.proto();
  proto.mutable_graph()->Swap(made.mutable_graph());
  proto.mutable_graph()->set_name(model.graph().name());
  proto.mutable_opset_import()->Swap(made.mutable_opset_import());
  proto.clear_functions();
  drop_unused_imports(proto);
  return Model(std::move(proto));
}

}  // namespace qtool
