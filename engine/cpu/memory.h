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

/// Asks the system to back [data, data + bytes) with large pages, now or when it finds the time. A shuffled
/// batch touches pages all over the data set; with pages of 4 KiB each of its rows costs a walk through the
/// page tables, which takes longer than reading the row. The contents stay as they are. Does nothing on
/// systems without large pages.
void preferHugePages(const void* data, std::size_t bytes);

} // namespace lockstep
