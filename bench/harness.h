// Measures contenders side by side: every contender once per round, in one process, each timed call behind
// untimed ones of the same kind: one, and up to three as long as they take less than 3 ms. Ratios are best
// over best.
//
// What a call gives back is kept and dropped outside the timed part, for everyone. Freed memory stays with
// the process (see main.cc), so no contender pays for page faults.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

struct Contender {
  std::string name;
  std::function<void()> prepare;     // before each call, untimed; may be empty
  std::function<std::size_t()> run;  // the timed call; gives a count of what it did
  std::size_t repeat = 1;            // run() does this many; times are of one
};

// One task on one document.
struct Group {
  std::string task, document;
  std::size_t bytes = 0;                         // what memcpy copies for the same work; 0: there is none
  std::function<std::vector<Contender>()> make;  // called when the group is measured
  bool writes = false;  // memcpy is also measured to where nothing was written lately
};

struct Row {
  std::string task, document, contender;
  std::size_t bytes = 0;
  std::size_t count = 0;                 // what run() gave back
  double best = 0, median = 0, p90 = 0;  // microseconds
  double x_memcpy = 0, x_dom = 0;        // how many times as fast; 0: not measured here
};

inline constexpr std::string_view kMemcpy = "memcpy";
inline constexpr std::string_view kColdMemcpy = "memcpy, cold destination";
inline constexpr std::string_view kDom = "simdjson DOM parse";

// Measures memcpy of group.bytes and all contenders whose names contain `only` in `rounds` rounds.
std::vector<Row> measure(const Group& group, std::size_t rounds, std::string_view only);

// The contenders that several functions make for one document.
template <typename Document, typename... Makers>
std::function<std::vector<Contender>()> all_of(const Document& document, Makers... makers) {
  return [&document, makers...] {
    std::vector<Contender> out;
    const auto add = [&](std::vector<Contender> more) {
      for (Contender& contender : more) out.push_back(std::move(contender));
    };
    (add(makers(document)), ...);
    return out;
  };
}

class Table {
 public:
  void add(std::vector<Row> rows);
  const Row* find(std::string_view task, std::string_view document, std::string_view contender) const;
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

std::string to_markdown(const std::vector<Row>& rows);

// Keeps the optimizer from dropping what is not used.
inline void keep(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

}  // namespace bench
