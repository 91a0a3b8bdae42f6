#include "engine/files/safetensors_header.h"

#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/file_bytes.h"

namespace lockstep {

namespace {

using nlohmann::json;

// Receives the parser's events. The format has four levels: outside, the object of names, the object of one
// tensor (or of the metadata), the list of a shape or of offsets. Whatever does not belong on its level is an
// error.
class HeaderReader final : public json::json_sax_t {
  public:
    HeaderReader(std::string_view file, std::uint64_t position) : file_(file), position_(position) {}

    SafetensorsHeader take() { return std::move(header_); }

    bool start_object(std::size_t) override {
        if (level_ == Level::outside) {
            level_ = Level::names;
        } else if (level_ == Level::names) {
            level_ = key_ == "__metadata__" ? Level::metadata : Level::tensor;
            if (level_ == Level::tensor) header_.entries.push_back({key_, {}, {}, 0, 0});
            seen_.clear();
        } else {
            refuse("an object");
        }
        return true;
    }

    bool end_object() override {
        if (level_ == Level::tensor) {
            for (const char* field : {"dtype", "shape", "data_offsets"})
                if (!seen_.contains(field)) fail(std::string("its '") + field + "' is missing");
        }
        level_ = level_ == Level::names ? Level::outside : Level::names;
        return true;
    }

    bool key(std::string& text) override {
        if (level_ == Level::names) {
            key_ = text;
            if (!names_.insert(text).second) fail("this name appears twice");
            return true;
        }
        if (!seen_.insert(text).second) fail("its " + quotedForMessage(text) + " appears twice");
        field_ = text;
        if (level_ == Level::tensor && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets")
            fail("the field " + quotedForMessage(text) + " is unknown");
        return true;
    }

    bool start_array(std::size_t) override {
        if (level_ != Level::tensor || field_ == "dtype") refuse("a list");
        level_ = Level::list;
        listed_ = 0;
        return true;
    }

    bool end_array() override {
        level_ = Level::tensor;
        if (field_ == "data_offsets" && listed_ != 2) fail("its 'data_offsets' are not two numbers");
        return true;
    }

    bool string(std::string& text) override {
        if (level_ == Level::metadata)
            header_.metadata[field_] = text;
        else if (level_ == Level::tensor && field_ == "dtype")
            header_.entries.back().type = text;
        else
            refuse("a text");
        return true;
    }

    bool number_unsigned(std::uint64_t value) override {
        if (level_ != Level::list) refuse("a number");
        TensorEntry& entry = header_.entries.back();
        if (field_ == "shape") entry.shape.push_back(value);
        if (field_ == "data_offsets") (listed_ == 0 ? entry.begin : entry.end) = value;
        ++listed_;
        return true;
    }

    bool number_integer(std::int64_t) override { refuse("a negative number"); }
    bool number_float(double, const std::string&) override { refuse("a fraction or a number above 2^64"); }
    bool boolean(bool) override { refuse("true or false"); }
    bool null() override { refuse("null"); }
    bool binary(json::binary_t&) override { refuse("binary data"); }

    bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
        throwAtByte(file_, position_ + (at > 0 ? at - 1 : 0), "the header is not valid JSON");
    }

  private:
    enum class Level { outside, names, tensor, metadata, list };

    [[noreturn]] void refuse(const char* what) const {
        const bool inField = level_ == Level::tensor || level_ == Level::metadata || level_ == Level::list;
        fail(inField ? "its " + quotedForMessage(field_) + " holds " + what : std::string("it is ") + what);
    }

    [[noreturn]] void fail(const std::string& reason) const {
        if (level_ == Level::outside) throwAtByte(file_, position_, "the header is no JSON object");
        const std::string place =
            key_ == "__metadata__" ? "__metadata__" : "tensor " + quotedForMessage(key_);
        throw std::runtime_error(std::string(file_) + ": header, " + place + ": " + reason);
    }

    std::string_view file_;
    std::uint64_t position_;
    SafetensorsHeader header_;
    Level level_ = Level::outside;
    std::string key_;             // on level `names`: the tensor at hand
    std::string field_;           // within it
    std::set<std::string> names_; // all so far
    std::set<std::string> seen_;  // fields of the tensor at hand
    std::size_t listed_ = 0;      // numbers of the list at hand
};

} // namespace

SafetensorsHeader parseSafetensorsHeader(std::string_view text, std::string_view name,
                                         std::uint64_t position) {
    if (!text.starts_with('{')) throwAtByte(name, position, "the header does not begin with '{'");
    HeaderReader reader(name, position);
    json::sax_parse(text.begin(), text.end(), &reader);
    return reader.take();
}

} // namespace lockstep
