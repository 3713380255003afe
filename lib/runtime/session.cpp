#include "runtime/session.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include "base/error.h"
#include "base/heap.h"
#include "base/text.h"
#include "model/widen_bfloat16.h"
#include "runtime/environment.h"
#include "runtime/observer_op.h"
#include "runtime/ort_error.h"
#include "runtime/ort_model.h"
#include "runtime/session_options.h"
#include "runtime/values.h"

namespace qtool {
namespace {

std::string name_of(const Model& model) {
  return model.path().empty() ? "model" : model.path().string();
}

/// ONNX Runtime copies these weights, and drops its copy of each when it has brought it to a form
/// of its own.
void add_weights(const std::vector<const onnx::TensorProto*>& tensors,
                 Ort::SessionOptions& options) {
  std::vector<std::string> names;
  std::vector<Ort::Value> values;
  for (const onnx::TensorProto* tensor : tensors) {
    names.push_back(tensor->name());
    values.push_back(view_of(*tensor));
  }
  if (!names.empty()) options.AddExternalInitializers(names, values);
}

}  // namespace

/// Members end in reverse order: the session before what it uses.
struct Session::Impl {
  std::string model_name;
  bool stop_inside_runs = true;
  std::array<ObserverOp, 3> observer_ops{ObserverOp(ElementType::Float),
                                         ObserverOp(ElementType::Float16),
                                         ObserverOp(ElementType::BFloat16)};
  Ort::CustomOpDomain observer_domain{ObserverOp::kDomain};
  Ort::Session session{nullptr};
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

  void load_computable(const Model& model, const SessionConfig& config);
  void load_model(const Model& model, const SessionConfig& config);
  void load(const OrtModel& model, Ort::SessionOptions options);
  void list_inputs_and_outputs();
  std::vector<std::size_t> all_outputs() const;
  std::vector<Ort::Value> run(std::span<const NamedTensor> given,
                              std::span<const std::size_t> wanted);
};

void Session::Impl::load(const OrtModel& model, Ort::SessionOptions options) {
  for (ObserverOp& op : observer_ops) observer_domain.Add(&op);
  options.Add(observer_domain);
  options.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                         model.folder.c_str());
  add_weights(model.in_memory, options);
  session = Ort::Session(environment(), model.bytes.data(), model.bytes.size(), options);
}

void Session::Impl::list_inputs_and_outputs() {
  const Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    inputs.push_back(tensor_info(session.GetInputNameAllocated(i, allocator).get(),
                                 session.GetInputTypeInfo(i)));
  }
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    outputs.push_back(tensor_info(session.GetOutputNameAllocated(i, allocator).get(),
                                  session.GetOutputTypeInfo(i)));
  }
}

std::vector<std::size_t> Session::Impl::all_outputs() const {
  std::vector<std::size_t> out(outputs.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

std::vector<Ort::Value> Session::Impl::run(std::span<const NamedTensor> given,
                                           std::span<const std::size_t> wanted) {
  std::vector<const char*> input_names;
  std::vector<const char*> output_names;
  std::vector<Ort::Value> values;
  for (const TensorInfo& input : inputs) {
    const auto found = std::ranges::find(given, input.name, &NamedTensor::name);
    if (found == given.end()) {
      throw Error(ErrorKind::Input, model_name + ": input '" + printable(input.name) +
                                        "': has no value in the sample");
    }
    input_names.push_back(input.name.c_str());
    values.push_back(view_of(*found));
  }
  for (const std::size_t index : wanted) output_names.push_back(outputs[index].name.c_str());
  return session.Run(Ort::RunOptions{nullptr}, input_names.data(), values.data(), values.size(),
                     output_names.data(), output_names.size());
}

/// A model with bfloat16 operators that there is no kernel for is computed in float32 instead.
void Session::Impl::load_computable(const Model& model, const SessionConfig& config) {
  try {
    load_model(model, config);
  } catch (const Ort::Exception& exception) {
    if (!names_missing_kernel(exception.what())) throw;
    Model wide = model.clone();
    if (!widen_bfloat16(wide)) throw;
    load_model(wide, config);
  }
}

void Session::Impl::load_model(const Model& model, const SessionConfig& config) {
  const OrtModel ort_model =
      config.taps.empty() ? make_ort_model(model) : make_tapped_ort_model(model, config.taps);
  load(ort_model, session_options(config));
  list_inputs_and_outputs();
}

Session::Session(const Model& model, const SessionConfig& config)
    : impl_(std::make_unique<Impl>()) {
  impl_->model_name = name_of(model);
  impl_->stop_inside_runs = config.stop_inside_runs;
  try {
    impl_->load_computable(model, config);
  } catch (const Ort::Exception& exception) {
    throw ort_error(exception, impl_->model_name, "load it");
  }
  // What was read of the files on the way here is now in ONNX Runtime's own form.
  for (const auto& data_file : model.data_files()) data_file.file->release_pages();
}

Session::Session(const std::filesystem::path& path, const SessionConfig& config)
    : impl_(std::make_unique<Impl>()) {
  impl_->model_name = path.string();
  impl_->stop_inside_runs = config.stop_inside_runs;
  try {
    impl_->session = Ort::Session(environment(), path.c_str(), session_options(config));
    impl_->list_inputs_and_outputs();
  } catch (const Ort::Exception& exception) {
    const Error error = ort_error(exception, impl_->model_name, "load it");
    if (!names_missing_kernel(exception.what())) throw error;
    Model wide = qtool::load_model(path);
    if (!widen_bfloat16(wide)) throw error;
    *this = Session(wide, config);
  }
}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::~Session() {
  if (!impl_) return;
  impl_.reset();
  run_memory().trim();
  // Packed weights lie there.
  trim_heap();
}

std::span<const TensorInfo> Session::inputs() const { return impl_->inputs; }
std::span<const TensorInfo> Session::outputs() const { return impl_->outputs; }

std::vector<NamedTensor> Session::run(std::span<const NamedTensor> inputs) const {
  return run(inputs, impl_->all_outputs());
}

std::vector<NamedTensor> Session::run(std::span<const NamedTensor> inputs,
                                      std::span<const std::size_t> outputs) const {
  try {
    const auto values = impl_->run(inputs, outputs);
    std::vector<NamedTensor> out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string& name = impl_->outputs[outputs[i]].name;
      out.push_back({name, copy_of(values[i], name)});
    }
    return out;
  } catch (const Ort::Exception& exception) {
    throw ort_error(exception, impl_->model_name, "run it");
  }
}

void Session::run_only(std::span<const NamedTensor> inputs) const {
  try {
    impl_->run(inputs, impl_->all_outputs());
  } catch (const Ort::Exception& exception) {
    throw ort_error(exception, impl_->model_name, "run it");
  }
}

void Session::run_observed(std::span<const NamedTensor> inputs, TensorObserver& observer) const {
  const ObserverScope scope(observer, impl_->stop_inside_runs);
  const RunMemory::Lease memory(run_memory());
  try {
    impl_->run(inputs, impl_->all_outputs());
  } catch (const Ort::Exception& exception) {
    scope.rethrow();
    throw ort_error(exception, impl_->model_name, "run it");
  }
}

std::string onnxruntime_version() { return Ort::GetVersionString(); }

}  // namespace qtool
