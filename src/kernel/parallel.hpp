// Work shared out among threads, one task at a time. Threads live for one call: a pool that
// outlives it would not survive a fork, and starting a thread costs less than decoding a sentence.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace treewright {

// Calls work(task) for task = 0 .. tasks - 1 on up to `threads` threads, `make_work()` once on
// each; the first exception stops the others and is thrown again here.
template <class MakeWork>
void run_parallel(int tasks, int threads, const MakeWork& make_work) {
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&] {
    try {
      auto work = make_work();
      for (int task = next++; task < tasks; task = next++) work(task);
    } catch (...) {
      next = tasks;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  for (int t = 1; t < threads && t < tasks; ++t) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace treewright
