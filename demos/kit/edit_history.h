// The way back through what a person changed, and forward again: Ctrl+Z and Ctrl+Y.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace lockstep::demos {

/// Numbers edits from 1 on, of all histories together, so that the latest of all can be told.
inline std::uint64_t nextEditNumber() {
    static std::uint64_t last = 0;
    return ++last;
}

class EditHistory {
  public:
    virtual ~EditHistory() = default;

    /// After a frame with input: remembers what it has changed. All that changes while `held`, as the mouse
    /// holds a slider, is one edit.
    virtual void note(bool held) = 0;
    /// Number of the edit that undo() takes back; 0: none.
    virtual std::uint64_t undoable() const = 0;
    /// Number of the edit that redo() makes again; 0: none.
    virtual std::uint64_t redoable() const = 0;
    virtual void undo() = 0;
    virtual void redo() = 0;
    /// What comes next is where the history begins, as after a state was opened.
    virtual void forget() {}
};

/// The history of one small value, such as an exhibit's settings.
template <class Value> class ValueHistory final : public EditHistory {
  public:
    using Read = std::function<Value()>;
    /// Restores `wanted`. `other` is the value on the other side of the edit: where both are equal, there is
    /// nothing to restore.
    using Write = std::function<void(const Value& wanted, const Value& other)>;
    using Same = std::function<bool(const Value&, const Value&)>;

    /// same   says which values differ by no edit
    ValueHistory(Read read, Write write, Same same = std::equal_to<Value>{})
        : read_(std::move(read)), write_(std::move(write)), same_(std::move(same)) {}

    void note(bool held) override {
        Value now = read_();
        if (now_ && !same_(*now_, now)) {
            if (!open_) {
                done_.push_back({nextEditNumber(), *now_, now});
                if (done_.size() > most) done_.erase(done_.begin());
            }
            done_.back().after = now;
            undone_.clear();
            open_ = true;
        }
        now_ = std::move(now);
        if (!held) open_ = false;
    }
    std::uint64_t undoable() const override { return done_.empty() ? 0 : done_.back().number; }
    std::uint64_t redoable() const override { return undone_.empty() ? 0 : undone_.back().number; }
    void undo() override {
        if (done_.empty()) return;
        write_(done_.back().before, done_.back().after);
        move(done_, undone_);
    }
    void redo() override {
        if (undone_.empty()) return;
        write_(undone_.back().after, undone_.back().before);
        move(undone_, done_);
    }
    void forget() override {
        done_.clear(), undone_.clear();
        now_.reset();
        open_ = false;
    }

  private:
    static constexpr std::size_t most = 100;
    struct Edit {
        std::uint64_t number;
        Value before, after;
    };

    void move(std::vector<Edit>& from, std::vector<Edit>& to) {
        to.push_back(std::move(from.back()));
        from.pop_back();
        now_ = read_();
        open_ = false;
    }

    Read read_;
    Write write_;
    Same same_;
    std::optional<Value> now_; // as last noted
    std::vector<Edit> done_, undone_;
    bool open_ = false; // further changes belong to the last edit
};

} // namespace lockstep::demos
