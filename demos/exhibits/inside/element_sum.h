// One element of a tensor that a product writes, as the sum that it is: a row of the one operand times a row
// or column of the other, from the values that the traced step read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/net/net_shape.h"
#include "engine/step/step_trace.h"

namespace lockstep::demos {

struct ElementAt {
    TensorId tensor;
    std::size_t row = 0;
    std::size_t column = 0;

    bool operator==(const ElementAt&) const = default;
};

/// A row or a column of a tensor.
struct OperandLine {
    std::string place;          ///< "row 3 of A[0]"
    std::string name;           ///< of its elements: "A[0][3, i]"
    std::vector<double> values; ///< as the product reads them; in the order of the plain loop
};

/// A number with its name.
struct NamedNumber {
    std::string name;
    double value = 0;
};

struct ElementSum {
    std::string formula; ///< "A[1][3, 17] = relu(Σ A[0][3, i] W[0][17, i] + b[0][17])"
    OperandLine first;
    OperandLine second;                   ///< without values: the sum is of the first line alone
    char index = 'i';                     ///< what is summed over: i inputs, o outputs, r rows
    std::optional<NamedNumber> bias;      ///< added to the products
    double sum = 0;                       ///< of the products, in the order of the plain loop, and the bias
    std::optional<NamedNumber> activated; ///< "relu(sum)"
    std::optional<NamedNumber> slope;     ///< that the sum is multiplied by: "relu'(Z[0][3, 17])"
    double result = 0;                    ///< what all of this gives
    NamedNumber stored;                   ///< what the machine has stored: "A[1][3, 17]"

    std::size_t size() const { return first.values.size(); }
    double product(std::size_t i) const {
        return second.values.empty() ? first.values[i] : first.values[i] * second.values[i];
    }
};

/// Empty for an element that is not a sum of products, and where the trace holds only a part of the operands.
/// trace   of a step of a network of this shape
std::optional<ElementSum> elementSum(const NetShape& shape, const StepTrace& trace,
                                     const TracedOperation& operation, const ElementAt& at);

/// The operation of the trace that makes the element a sum of products; their number when there is none.
std::size_t operationOf(const NetShape& shape, const StepTrace& trace, const ElementAt& at);

struct LargestProducts {
    std::vector<std::size_t> shown; ///< indices, the largest magnitude first
    std::size_t others = 0;
    double othersSum = 0;
};

/// The `most` largest products, and the sum of all others.
LargestProducts largestProducts(const ElementSum& element, std::size_t most);

} // namespace lockstep::demos
