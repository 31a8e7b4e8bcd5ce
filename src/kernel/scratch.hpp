// Work space that is used again: arenas that hand out plain arrays and keep their memory, and the
// pool from which each thread borrows one for the length of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace treewright {

// Arrays live until reset(). An arena that had to grow in pieces becomes one piece at the next
// reset, so that in the long run nothing is allocated.
class Arena {
 public:
  static constexpr std::size_t keep_at_most = std::size_t{64} << 20;

  template <class T>
  T* take(std::ptrdiff_t count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 63) & ~std::size_t{63};
    if (pieces_.empty() || used_ + bytes > pieces_.back().size) add_piece(bytes);
    void* at = pieces_.back().memory.get() + used_;
    used_ += bytes;
    return static_cast<T*>(at);
  }

  void reset() {
    if (pieces_.size() > 1) {
      std::size_t total = 0;
      for (const Piece& piece : pieces_) total += piece.size;
      pieces_.clear();
      if (total <= keep_at_most) add_piece(total);
    } else if (!pieces_.empty() && pieces_.back().size > keep_at_most) {
      pieces_.clear();
    }
    used_ = 0;
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  struct Free {
    std::size_t alignment;
    void operator()(std::byte* memory) const {
      ::operator delete(memory, std::align_val_t{alignment});
    }
  };
  struct Piece {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size;
  };

  // Large pieces ask for huge pages: the passes jump about in them, a page a load.
  void add_piece(std::size_t bytes) {
    std::size_t size = std::max<std::size_t>(bytes, 1 << 16);
    const bool large = size >= huge_page / 2;
    if (large) size = (size + huge_page - 1) & ~(huge_page - 1);
    const std::size_t alignment = large ? huge_page : 64;
    auto* memory = static_cast<std::byte*>(::operator new(size, std::align_val_t{alignment}));
    pieces_.push_back({std::unique_ptr<std::byte, Free>(memory, Free{alignment}), size});
#if defined(__linux__)
    if (large) madvise(memory, size, MADV_HUGEPAGE);
#endif
    used_ = 0;
  }

  std::vector<Piece> pieces_;
  std::size_t used_ = 0;
};

class ArenaPool {
 public:
  // Returned to the pool when it goes out of scope.
  class Lease {
   public:
    explicit Lease(ArenaPool& pool) : pool_(pool), arena_(pool.borrow()) {}
    ~Lease() { pool_.give_back(std::move(arena_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Arena& operator*() const { return *arena_; }

   private:
    ArenaPool& pool_;
    std::unique_ptr<Arena> arena_;
  };

  static ArenaPool& shared() {
    static ArenaPool pool;
    return pool;
  }

 private:
  static constexpr std::size_t keep_at_most = 16;  // arenas

  std::unique_ptr<Arena> borrow() {
    const std::lock_guard lock(mutex_);
    if (arenas_.empty()) return std::make_unique<Arena>();
    std::unique_ptr<Arena> arena = std::move(arenas_.back());
    arenas_.pop_back();
    return arena;
  }

  void give_back(std::unique_ptr<Arena> arena) {
    arena->reset();
    const std::lock_guard lock(mutex_);
    if (arenas_.size() < keep_at_most) arenas_.push_back(std::move(arena));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> arenas_;
};

}  // namespace treewright
