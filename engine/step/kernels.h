// The kernels of the engine on Vulkan, one line each: shader, params struct, specialisation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/gpu/kernel.h"
#include "engine/net/net_shape.h"
#include "engine/net/settings.h"
#include "engine/step/shaders.h"
#include "shaders/shared/params.h"

namespace lockstep {

/// The three matrix products of a dense layer. Each is C[m][n] = sum_k A[m][k] B[k][n]:
///   forward          m rows,    n outputs, k inputs     "dense"
///   backwardInputs   m rows,    n inputs,  k outputs    "dense_backward_inputs"
///   backwardWeights  m outputs, n inputs,  k rows       "dense_backward_weights"
enum class Product { forward, backwardInputs, backwardWeights };

/// The operation's name, which is also the stem of its shaders' file names.
std::string_view name(Product product);

/// How a product is computed: which shader, and its specialisation (shaders/dense/dense_constants.glsl).
struct ProductKernel {
    /// "one", "naive-strided", "naive", "tiled", "blocked", "texel", "subgroup", "matrix"
    std::string rung = "naive";
    std::uint32_t groupN = 8; ///< invocations of a workgroup along n (matrix: subgroups) ...
    std::uint32_t groupM = 8; ///< ... and along m
    std::uint32_t tileM = 1;  ///< outputs of one invocation (matrix: of one subgroup) along m ...
    std::uint32_t tileN = 1;  ///< ... and along n
    std::uint32_t slabK = 0;  ///< tiled, matrix: values of k in shared memory at a time, a multiple of four
    /// subgroup: invocations that load together, gpu::Limits::broadcastLanes at most; matrix: of a subgroup
    std::uint32_t lanes = 0;
    /// tiled and texel may have, matrix has: halves as operands and, but for gradients of weights, as results
    bool half = false;
    /// tiled: invocations that share the sum of an output; then slabK * slices is groupN * tileN at least.
    /// They add in another order than all other kernels do, so that results differ in rounding.
    std::uint32_t slices = 1;

    /// Of a workgroup.
    std::uint32_t invocations() const { return groupM * groupN * (rung == "matrix" ? lanes : slices); }

    /// "blocked 16x16, group 8x1"; "tiled 8x8, group 8x8, slab 16", ", 4 slices".
    std::string describe() const;
    auto operator<=>(const ProductKernel&) const = default;
};

/// The tile that the rung `matrix` multiplies at once on a device; zeros: the device has none for which its
/// shaders were compiled.
gpu::MatrixTile matrixTileOf(const gpu::Device& device);

/// The stem of the shader's file: "dense_naive_strided".
std::string shaderName(std::string_view operation, const ProductKernel& kernel);

/// A product's pipeline (it belongs to Kernels), and what has to be known to dispatch it.
struct DenseKernel {
    const gpu::Kernel<shared::DenseParams>* pipeline = nullptr;
    Product product = Product::forward;
    ProductKernel how;
};

/// What one dispatch of a product computes: all of it, but for the rung `one`, whose single invocation takes
/// a product in pieces that end soon enough (software drivers end a shader's loops after 65,535 rounds in
/// silence, and systems reset a GPU that is busy for seconds).
struct ProductPiece {
    std::uint32_t first = 0; ///< outputs [first, first + count), counted row by row
    std::uint32_t count = 0;
};

/// Pieces of a product of m x n outputs that are sums of k products each. One piece for every rung but `one`.
std::vector<ProductPiece> piecesOf(const ProductKernel& kernel, std::uint32_t m, std::uint32_t n,
                                   std::uint32_t k);

/// Pieces of the rung `one` that go into a submission, and so delay everything else on the device.
inline constexpr std::size_t piecesPerSubmission = 8;

/// Pipelines of a device, made on first use and kept. References stay valid as long as the object lives.
class Kernels {
  public:
    explicit Kernels(gpu::Device& device) : device_(device) {}

    gpu::Device& device() const { return device_; }

    /// From now on kernels are made of these shaders instead of the built-in ones; those asked for before
    /// stay as they are. Throws std::invalid_argument when there is no shader of a name.
    void replace(ReplacedShaders shaders);
    bool replaced(std::string_view shader) const { return replaced_.contains(shader); }
    const ReplacedShaders& replacedShaders() const { return replaced_; }

    DenseKernel dense(Product product, const ProductKernel& how, Activation activation);
    /// Product::backwardWeights, and the optimizer's step with it.
    using DenseUpdate = gpu::Kernel<shared::DenseUpdateParams>;
    const DenseUpdate& denseUpdate(const ProductKernel& how, Optimizer optimizer);
    /// `half`: the batch is one of halves; likewise outputs and gradients of sums below.
    const gpu::Kernel<shared::GatherBatchParams>& gatherBatch(bool pixels, bool half);
    const gpu::Kernel<shared::LossParams>& lossAndGradient(Loss loss, Activation outputActivation, bool half);
    const gpu::Kernel<shared::LossSumParams>& lossSum();
    const gpu::Kernel<shared::ScoreParams>& score(Loss loss, Activation outputActivation);
    const gpu::Kernel<shared::UpdateParams>& update(Optimizer optimizer);
    /// The same, and weights as halves; what comes before it: have gradients overflowed?
    const gpu::Kernel<shared::UpdateHalfParams>& updateHalf(Optimizer optimizer);
    const gpu::Kernel<shared::LossScaleParams>& lossScale();
    /// One workgroup of `groupSize` invocations; see whole_step.h.
    const gpu::Kernel<shared::WholeStepParams>& wholeStep(const NetShape& shape, Optimizer optimizer,
                                                          std::uint32_t groupSize, std::uint32_t chunk,
                                                          std::uint32_t sharedFloats);

    const gpu::Kernel<shared::PlaneInputsParams>& planeInputs();
    const gpu::Kernel<shared::PlanePictureParams>& planePicture(Loss loss, Activation outputActivation);
    const gpu::Kernel<shared::NeuronPictureParams>& neuronPicture(); ///< its items are tiles

    /// Rows of one workgroup of lossAndGradient and of score.
    static constexpr std::uint32_t rowsPerGroup = 128;

  private:
    template <class Params>
    const gpu::Kernel<Params>&
    find(std::map<std::string, gpu::Kernel<Params>>& made, const std::string& stem,
         const std::string& shownAs, gpu::SpecConstants constants, gpu::WorkItems itemsPerGroup = {0, 0, 0},
         gpu::TexelFormat texels = gpu::TexelFormat::floats, std::string variant = {});

    gpu::Device& device_;
    ReplacedShaders replaced_;
    std::map<std::string, gpu::Kernel<shared::DenseParams>> dense_;
    std::map<std::string, DenseUpdate> denseUpdate_;
    std::map<std::string, gpu::Kernel<shared::GatherBatchParams>> gatherBatch_;
    std::map<std::string, gpu::Kernel<shared::LossParams>> lossAndGradient_;
    std::map<std::string, gpu::Kernel<shared::LossSumParams>> lossSum_;
    std::map<std::string, gpu::Kernel<shared::ScoreParams>> score_;
    std::map<std::string, gpu::Kernel<shared::UpdateParams>> update_;
    std::map<std::string, gpu::Kernel<shared::UpdateHalfParams>> updateHalf_;
    std::map<std::string, gpu::Kernel<shared::LossScaleParams>> lossScale_;
    std::map<std::string, gpu::Kernel<shared::WholeStepParams>> wholeStep_;
    std::map<std::string, gpu::Kernel<shared::PlaneInputsParams>> planeInputs_;
    std::map<std::string, gpu::Kernel<shared::PlanePictureParams>> planePicture_;
    std::map<std::string, gpu::Kernel<shared::NeuronPictureParams>> neuronPicture_;
};

} // namespace lockstep
