// Where the network's neurons and links lie in the playground's drawing of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "demos/exhibits/playground/playground_view.h"

namespace lockstep::demos {

/// One layer: a column of tiles, or one picture of all neurons where there are too many.
struct GraphColumn {
    std::size_t neurons = 0;
    float x = 0; ///< of the tiles' middle
    float top = 0;
    float pitch = 0; ///< from one tile to the next
    float tile = 0;
    bool wide = false;
    ImVec2 low{}; ///< of the picture of a wide layer
    ImVec2 high{};
    std::size_t gridColumns = 1;
    std::size_t gridLines = 1;
    std::vector<std::size_t> rows; ///< of the features in use: which of all features each is

    ImVec2 centre(std::size_t neuron) const;
    ImVec2 tileLow(std::size_t neuron) const;
    float half() const { return wide ? (high.x - low.x) / 2 : tile / 2; }
};

/// All layers, the features first. Tiles lie between `low` and `high`, the features' names left of theirs.
std::vector<GraphColumn> layOutGraph(const PlaygroundParts& parts, ImVec2 low, ImVec2 high);

/// The weight of one link.
struct GraphLink {
    ParameterPlace place;
    float weight = 0;
};

/// The links into layer `layer`, the strongest ones where there are too many to draw; empty when there are so
/// many that a band has to stand for them.
std::vector<GraphLink> linksInto(const PlaygroundModel& model, std::size_t layer);

inline constexpr std::size_t linkPieces = 14;
/// A link from one column to the next as linkPieces + 1 points.
void linkCurve(const GraphColumn& from, std::size_t fromNeuron, const GraphColumn& to, std::size_t toNeuron,
               ImVec2 (&points)[linkPieces + 1]);

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
