// Memory for arenas and data sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace lockstep {

/// A fixed number of T, zeroed. It starts at a cache line (64 bytes), so that vector loads of rows never
/// straddle two. Can be moved, but not copied.
template <class T> class AlignedArray {
  public:
    AlignedArray() = default;
    explicit AlignedArray(std::size_t size)
        : data_(static_cast<T*>(::operator new(size * sizeof(T), alignment))), size_(size) {
        std::fill_n(data_.get(), size, T{});
    }

    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return data_.get()[index]; }
    const T& operator[](std::size_t index) const { return data_.get()[index]; }
    std::span<const T> span() const { return {data_.get(), size_}; }

  private:
    static constexpr std::align_val_t alignment{64};
    struct Release {
        void operator()(T* memory) const { ::operator delete(memory, alignment); }
    };
    std::unique_ptr<T, Release> data_;
    std::size_t size_ = 0;
};

} // namespace lockstep
