#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <glm/glm.hpp>
#include <glm/gtc/matrix_transform.hpp>

#include "demos/exhibits/playground/playground_view.h"
#include "demos/kit/futures.h"

namespace lockstep::demos {

namespace {

constexpr double cheapProducts = 1.5e7; // multiplications that are done within a frame
constexpr std::size_t finestGrid = 40;
constexpr std::size_t coarsestGrid = 10;
constexpr std::size_t mostPointsInSpace = 400;

/// Fills in the values.
SurfaceSamples evaluated(const NetShape& shape, const std::vector<float>& parameters,
                         const std::vector<PlaneFeature>& features, SurfaceSamples samples) {
    std::vector<float> inputs;
    for (const LabelledPoint& point : samples.points) {
        const std::vector<float> values = planeFeatures(point.x, point.y, features);
        inputs.insert(inputs.end(), values.begin(), values.end());
    }
    samples.values = std::move(forward(shape, parameters, inputs, samples.points.size())[samples.layer]);
    return samples;
}

/// What has to be computed: points of the data, or of a grid as fine as is cheap.
SurfaceSamples wantedSamples(const PlaygroundModel& model, bool ofPoints, std::size_t layer) {
    SurfaceSamples samples{
        .revision = model.revision(), .ofPoints = ofPoints, .layer = layer, .points = {}, .values = {}};
    if (ofPoints) {
        const std::span points(model.points());
        for (const PlanePoint& point : points.first(std::min(points.size(), mostPointsInSpace)))
            samples.points.push_back(point.at);
        return samples;
    }
    const double side = std::sqrt(cheapProducts / static_cast<double>(model.shape().parameters()));
    samples.grid = std::clamp(static_cast<std::size_t>(side), coarsestGrid, finestGrid);
    const auto plane = [&](std::size_t i) {
        return planeReach * (2 * static_cast<float>(i) / static_cast<float>(samples.grid - 1) - 1);
    };
    for (std::size_t y = 0; y < samples.grid; ++y)
        for (std::size_t x = 0; x < samples.grid; ++x) samples.points.push_back({plane(x), plane(y)});
    return samples;
}

constexpr float surfaceHeight = 0.55f; // of an answer of 1, where the plane goes from -1 to 1
constexpr float foldReach = 0.75f;     // of the longest axis

struct PointMark {
    std::size_t shape = 0;
    bool hollow = false;
};

/// Something flat in space, painted from back to front: four corners, or a mark at the first one.
struct Piece {
    float depth = 0;
    std::array<ImVec2, 4> corners{};
    ImU32 colour = 0;
    std::optional<PointMark> mark{};
};

class Space {
  public:
    /// `away`: how far the eye is from the middle without zoom.
    Space(const PlaygroundParts& parts, ImVec2 low, ImVec2 high, float away)
        : parts_(parts), low_(low), high_(high) {
        const ViewSettings& camera = parts.view;
        const float distance = away / camera.zoom;
        const glm::vec3 eye{distance * std::cos(camera.pitch) * std::sin(camera.yaw),
                            -distance * std::cos(camera.pitch) * std::cos(camera.yaw),
                            distance * std::sin(camera.pitch)};
        const glm::mat4 view = glm::lookAt(eye, glm::vec3(0), glm::vec3(0, 0, 1));
        transform_ = glm::perspective(glm::radians(42.0f), 1.0f, 0.05f, 20.0f) * view;
    }

    ImVec2 project(glm::vec3 at, float* depth = nullptr) const {
        const glm::vec4 clip = transform_ * glm::vec4(at, 1);
        const float w = std::max(clip.w, 0.05f);
        if (depth != nullptr) *depth = clip.w;
        return {low_.x + (high_.x - low_.x) * (0.5f + 0.5f * clip.x / w),
                low_.y + (high_.y - low_.y) * (0.5f - 0.5f * clip.y / w)};
    }

    void quad(const std::array<glm::vec3, 4>& corners, ImU32 colour) {
        Piece piece{.colour = colour};
        for (std::size_t i = 0; i < 4; ++i) {
            float depth = 0;
            piece.corners[i] = project(corners[i], &depth);
            piece.depth += depth / 4;
        }
        pieces_.push_back(piece);
    }

    void mark(glm::vec3 at, std::size_t shape, bool hollow, ImU32 colour) {
        Piece piece{.colour = colour, .mark = PointMark{shape, hollow}};
        piece.corners[0] = project(at, &piece.depth);
        piece.depth -= 0.05f; // before the surface that it lies on
        pieces_.push_back(piece);
    }

    void line(glm::vec3 a, glm::vec3 b, ImU32 colour) {
        ImGui::GetWindowDrawList()->AddLine(project(a), project(b), colour, parts_.ui.line());
    }

    void label(glm::vec3 at, const std::string& text) {
        const SmallLetters small(parts_.ui);
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        const ImVec2 middle = project(at);
        const float edge = parts_.ui.px(4);
        const float x = std::clamp(middle.x - size.x / 2, low_.x + edge, high_.x - size.x - edge);
        const float y = std::clamp(middle.y - size.y / 2, low_.y + edge, high_.y - size.y - edge);
        ImGui::GetWindowDrawList()->AddText({x, y}, parts_.ui.theme.muted, text.c_str());
    }

    void paint() {
        std::ranges::sort(pieces_, std::ranges::greater{}, &Piece::depth);
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        const ImDrawListFlags flags = draw.Flags;
        draw.Flags &= ~ImDrawListFlags_AntiAliasedFill; // a seam between quads, else, and twice the vertices
        for (const Piece& piece : pieces_)
            if (const auto& c = piece.corners; piece.mark)
                paintMark(piece, 1);
            else
                draw.AddQuadFilled(c[0], c[1], c[2], c[3], piece.colour);
        // Marks behind the surface shine through; over those before it this changes nothing.
        constexpr float through = 0.35f;
        for (const Piece& piece : pieces_)
            if (piece.mark) paintMark(piece, through);
        draw.Flags = flags;
    }

  private:
    void paintMark(const Piece& piece, float share) const {
        const auto [shape, hollow] = *piece.mark;
        const float half = parts_.ui.px(3.5f);
        const ImVec2 at = piece.corners[0];
        if (share == 1) return parts_.pictures.ringedMark(shape, hollow, at, half, piece.colour);
        parts_.pictures.mark(shape, hollow)
            .draw({at.x - half, at.y - half}, {at.x + half, at.y + half}, faded(piece.colour, share));
    }

    const PlaygroundParts& parts_;
    ImVec2 low_;
    ImVec2 high_;
    glm::mat4 transform_{1};
    std::vector<Piece> pieces_;
};

struct Answer {
    float height = 0;
    ImU32 colour = 0; ///< as the map has it where nothing is decided
};

/// Heights from -1 to 1, as the marks of the points: a probability of two classes is stretched.
Answer answerAt(const NetShape& shape, std::size_t classes, const PlaneColours& colours,
                std::span<const float> outputs) {
    const ImU32 colour = answerColour(shape, outputs, colours);
    const std::vector<float> answers = answerOf(shape.loss, outputs);
    if (answers.size() == 1) {
        const bool probability = shape.loss == Loss::binaryCrossEntropy ||
                                 (classes == 2 && shape.outputActivation == Activation::sigmoid);
        const float height = probability ? 2 * answers[0] - 1 : answers[0];
        return {std::clamp(height, -1.2f, 1.2f), colour};
    }
    float most = 0;
    for (const float share : answers) most = std::max(most, std::min(share, 1.0f));
    return {2 * most - 1, colour};
}

// Darker where it falls away from the light, so that the shape is seen.
ImU32 shaded(const Theme& theme, ImU32 colour, const std::array<glm::vec3, 4>& corners) {
    const glm::vec3 normal = glm::cross(corners[1] - corners[0], corners[3] - corners[0]);
    const float size = glm::length(normal);
    const float light =
        size > 0 ? std::abs(glm::dot(normal / size, glm::normalize(glm::vec3(-0.4f, -0.5f, 0.8f)))) : 1;
    const ImU32 shade = theme.dark ? theme.background : theme.muted;
    return mixed(colour, shade, 0.4f * (1 - light)) | IM_COL32_A_MASK;
}

void drawOutput(const PlaygroundParts& parts, Space& space, const SurfaceSamples& samples) {
    const Theme& theme = parts.ui.theme;
    const NetShape shape = parts.model.shape();
    const std::size_t classes = parts.model.settings().classes();
    const std::size_t grid = samples.grid;
    const PlaneColours colours = planeColours(theme);
    std::vector<Answer> answers;
    for (std::size_t row = 0; row < grid * grid; ++row)
        answers.push_back(answerAt(shape, classes, colours, samples.values.row(row)));
    const auto corner = [&](std::size_t x, std::size_t y) {
        const auto plane = [&](std::size_t i) {
            return 2 * static_cast<float>(i) / static_cast<float>(grid - 1) - 1;
        };
        return glm::vec3(plane(x), plane(y), answers[y * grid + x].height * surfaceHeight);
    };
    for (std::size_t y = 0; y + 1 < grid; ++y)
        for (std::size_t x = 0; x + 1 < grid; ++x) {
            const std::array<glm::vec3, 4> corners{corner(x, y), corner(x + 1, y), corner(x + 1, y + 1),
                                                   corner(x, y + 1)};
            const ImU32 colour =
                mixed(answers[y * grid + x].colour, answers[(y + 1) * grid + x + 1].colour, 0.5f);
            space.quad(corners, shaded(theme, colour, corners));
        }
    std::size_t drawn = 0;
    for (const PlanePoint& point : parts.model.points()) {
        if (!(point.test ? parts.view.testPoints : parts.view.trainPoints) || ++drawn > mostPointsInSpace)
            continue;
        const float target = classes == 2 ? (point.at.label == 0 ? -1.0f : 1.0f) : point.at.target;
        const float height = (samples.values.width == 1 ? target : 1.0f) * surfaceHeight;
        space.mark({point.at.x / planeReach, point.at.y / planeReach, height}, point.at.label, point.test,
                   pointColour(theme, classes, point.at));
    }
    constexpr float z = -surfaceHeight;
    constexpr std::array<glm::vec3, 4> ground{{{-1, -1, z}, {1, -1, z}, {1, 1, z}, {-1, 1, z}}};
    for (std::size_t i = 0; i < 4; ++i) space.line(ground[i], ground[(i + 1) % 4], theme.border);
    space.paint();
    space.label({0, -1.15f, -surfaceHeight}, "x");
    space.label({1.15f, 0, -surfaceHeight}, "y");
}

void drawFold(const PlaygroundParts& parts, Space& space, const SurfaceSamples& samples) {
    const Theme& theme = parts.ui.theme;
    const LayerValues& values = samples.values;
    const auto axis = [&](std::size_t row, std::size_t i) {
        const std::size_t neuron = parts.view.foldAxes[i];
        return neuron < values.width ? values.row(row)[neuron] : 0.0f;
    };
    float reach = 1;
    for (std::size_t row = 0; row < samples.points.size(); ++row)
        for (std::size_t i = 0; i < 3; ++i)
            if (std::isfinite(axis(row, i))) reach = std::max(reach, std::abs(axis(row, i)));
    for (std::size_t row = 0; row < samples.points.size(); ++row) {
        const glm::vec3 at{axis(row, 0) / reach, axis(row, 1) / reach, axis(row, 2) / reach};
        space.mark(at * foldReach, samples.points[row].label, false,
                   pointColour(theme, parts.model.settings().classes(), samples.points[row]));
    }
    const glm::vec3 ends[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto exists = [&](std::size_t i) { return parts.view.foldAxes[i] < values.width; };
    for (std::size_t i = 0; i < 3; ++i)
        if (exists(i)) space.line(-ends[i] * foldReach, ends[i] * foldReach, theme.muted);
    space.paint();
    for (std::size_t i = 0; i < 3; ++i)
        if (exists(i))
            space.label(ends[i] * (foldReach + 0.12f), fmt::format("a{}", parts.view.foldAxes[i] + 1));
}

/// Asks for what is to be seen now. Scripts have it at once.
void updateSamples(const PlaygroundParts& parts, bool ofPoints, std::size_t layer) {
    const PlaygroundModel& model = parts.model;
    auto& samples = parts.view.samples;
    auto& sampling = parts.view.sampling;
    const bool wait = parts.ui.scripted;
    if (sampling.valid() && (wait || ready(sampling))) samples = sampling.get();
    const bool fresh = samples && samples->revision == model.revision() && samples->ofPoints == ofPoints &&
                       samples->layer == layer;
    if (fresh || sampling.valid()) return;
    if (ofPoints && model.points().empty()) {
        samples.reset();
        return;
    }
    sampling = std::async(std::launch::async, evaluated, model.shape(), model.parameters(),
                          model.settings().features, wantedSamples(model, ofPoints, layer));
    if (wait) samples = sampling.get();
}

} // namespace

void drawSurface(const PlaygroundParts& parts, ImVec2 low, ImVec2 high) {
    Ui& ui = parts.ui;
    const bool fold = parts.view.answer == layerAnswer;
    const NetShape shape = parts.model.shape();
    const std::size_t last = shape.widths.size() - 1;
    ImGui::SetCursorScreenPos(low);
    ImGui::InvisibleButton("##surface", {high.x - low.x, high.y - low.y});
    ui.noteControl("##surface", "Drag to turn, scroll to zoom. Height is the output.");
    ViewSettings& camera = parts.view;
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemActive()) {
        camera.yaw -= io.MouseDelta.x / (high.x - low.x) * 4;
        camera.pitch = std::clamp(camera.pitch + io.MouseDelta.y / (high.x - low.x) * 4, -1.5f, 1.5f);
    }
    if (ImGui::IsItemHovered() && io.MouseWheel != 0)
        camera.zoom = std::clamp(camera.zoom * std::pow(1.15f, io.MouseWheel), 0.5f, 3.0f);
    ui.explainItem(
        fold ? Detail{.title = "The data as a layer sees them",
                      .text =
                          "Each point is placed by the outputs of the chosen neurons. If a plane separates "
                          "the colours, the next layer has an easy task. Drag to turn, scroll to zoom."}
             : Detail{.title = "The output as a surface",
                      .text = "Height and colour show the prediction at each place of the plane. Marks show "
                              "the points at their target height, pale where the surface hides them. Drag to "
                              "turn, scroll to zoom."});
    updateSamples(parts, fold, fold ? std::min(parts.view.foldLayer, last) : last);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, high, ui.theme.panel, ui.px(6));
    draw.PushClipRect(low, high, true);
    const auto& samples = parts.view.samples;
    if (samples && samples->ofPoints == fold) {
        Space space(parts, low, high, fold ? 3.6f : 4.2f);
        if (fold)
            drawFold(parts, space, *samples);
        else if (samples->values.width == shape.outputs())
            drawOutput(parts, space, *samples);
    }
    draw.PopClipRect();
    draw.AddRect(low, high, ui.theme.border, ui.px(6), 0, ui.line());
}

} // namespace lockstep::demos
