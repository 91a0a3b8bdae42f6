// The network as a graph: every neuron with its own map of the plane, links by sign and size.
#pragma once

#include <optional>
#include <vector>

#include "demos/exhibits/playground/graph_layout.h"

namespace lockstep::demos {

/// One frame of the graph.
class Graph {
  public:
    explicit Graph(const PlaygroundParts& parts);

    void layOut(ImVec2 low, ImVec2 high);
    float columnX(std::size_t layer) const { return columns_[layer].x; }
    /// The features that a click asks for.
    const std::optional<std::vector<PlaneFeature>>& wantedFeatures() const { return features_; }

    void draw();

  private:
    void drawFailure();
    void drawLinks(std::size_t layer);
    void drawLink(std::size_t layer, const GraphLink& link, bool hovered);
    void drawFeatures();
    void drawFeature(PlaneFeature feature);
    void drawNeuron(NeuronPlace place);
    void drawBias(NeuronPlace place, ImVec2 low, float size);
    void drawWideLayer(std::size_t layer);
    void hoverLinks();
    void noteLink(const GraphLink& link, const ImVec2 (&points)[linkPieces + 1]);
    void edit(const ParameterPlace& place);

    const PlaygroundParts& parts_;
    Ui& ui_;
    const Theme& theme_;
    ImDrawList& draw_;
    ImVec2 low_{};
    ImVec2 high_{};
    std::vector<GraphColumn> columns_;
    std::vector<std::vector<GraphLink>> links_; // by the layer they lead to, from 1
    std::optional<std::vector<PlaneFeature>> features_;
};

} // namespace lockstep::demos
