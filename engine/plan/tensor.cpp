#include "engine/plan/tensor.h"

#include "engine/net/activation.h"

namespace lockstep {

std::string name(const TensorId& id) {
    const std::string letters(rowOf(id.kind).letters);
    return id.kind == TensorKind::targets ? letters : letters + "[" + std::to_string(id.layer) + "]";
}

TensorSize sizeOf(const TensorId& id, const NetShape& net, std::size_t batch, std::size_t targetWidth) {
    if (id.kind == TensorKind::activations || id.kind == TensorKind::hostActivations)
        return {batch, net.widths[id.layer]};
    if (id.kind == TensorKind::targets) return {batch, targetWidth};
    const std::size_t outputs = net.widths[id.layer + 1];
    const TensorKindRow& row = rowOf(id.kind);
    if (ofBatch(row.arena)) return {batch, outputs};
    return row.vector ? TensorSize{1, outputs} : TensorSize{outputs, net.widths[id.layer]};
}

TensorId savedOf(const NetShape& net, std::size_t layer) {
    if (derivativeNeedsSum(net.activationOf(layer))) return {TensorKind::sums, layer};
    return {TensorKind::activations, layer + 1};
}

} // namespace lockstep
