#include "goals.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "construct/task.h"
#include "convert/task.h"
#include "filter/task.h"

namespace bench {
namespace {

constexpr const char* kAppended = "Parley, one message appended";
constexpr const char* kScattered = "Parley, every message from its own document";
constexpr const char* kGetString = "simdjson on-demand, get_string of everything";

class Checker {
 public:
  explicit Checker(const Table& table) : table_(table) {}

  // A ratio that should be at least `wanted`: how many times as fast as memcpy, or as another contender.
  void times_memcpy(const char* task, const char* document, const std::string& contender, double wanted) {
    const Row* row = table_.find(task, document, contender);
    at_least(name(task, document, contender) + ", x memcpy", wanted, row != nullptr ? row->x_memcpy : 0,
             row != nullptr);
  }
  void times(const char* task, const char* document, const std::string& contender, std::string_view other,
             double wanted) {
    const Row* row = table_.find(task, document, contender);
    const Row* base = table_.find(task, document, other);
    const bool measured = row != nullptr && base != nullptr;
    at_least(name(task, document, contender) + ", x " + std::string(other), wanted,
             measured ? base->best / row->best : 0, measured);
  }
  void at_least(std::string what, double wanted, double reached, bool measured = true) {
    goals.push_back(bench::at_least(std::move(what), wanted, reached, measured));
  }
  void at_most(std::string what, double wanted, double reached, bool measured = true) {
    goals.push_back(bench::at_most(std::move(what), wanted, reached, measured));
  }
  const Row* find(const char* task, const char* document, const char* contender) const {
    return table_.find(task, document, contender);
  }

  std::vector<Goal> goals;

 private:
  static std::string name(const char* task, const char* document, const std::string& contender) {
    return std::string(task) + " " + document + ", " + contender;
  }
  const Table& table_;
};

void check_reading(Checker& check) {
  struct Wanted {
    const char* document;
    double dom_avx2, dom_avx512, memcpy_avx2;
  };
  constexpr Wanted kWanted[] = {{"text", 2.5, 3, 0.27}, {"mixed", 3, 3, 0.65}, {"\\u", 3, 3.5, 0.26}};
  for (const Wanted& wanted : kWanted) {
    check.times("read", wanted.document, "Parley avx2", kDom, wanted.dom_avx2);
    check.times("read", wanted.document, "Parley avx512", kDom, wanted.dom_avx512);
    check.times_memcpy("read", wanted.document, "Parley avx2", wanted.memcpy_avx2);
    check.times("read", wanted.document, "Parley avx2", "nlohmann, model", 20);
  }
  for (const char* kernel : {"Parley avx2", "Parley avx512"}) {
    const Row* own = check.find("read", "tiny", kernel);
    const Row* dom = check.find("read", "tiny", kDom.data());
    const bool measured = own != nullptr && dom != nullptr;
    check.at_most(std::string("read tiny, ") + kernel + ", time over simdjson DOM's", 2,
                  measured ? own->best / dom->best : 0, measured);
  }
  for (const char* document : {"text", "mixed", "\\u"}) {
    for (const char* kernel : {"Parley avx2, after reading", "Parley avx512, after reading"}) {
      check.times("unescape", document, kernel, kGetString, 0.9);
    }
  }
}

// The goals of writing were set with a memcpy whose destination was cold; both units are shown.
void check_write(Checker& check, const char* task, const char* document, const std::string& contender,
                 double wanted) {
  check.times_memcpy(task, document, contender, wanted);
  check.times(task, document, contender, kColdMemcpy, wanted);
}

void check_writing(Checker& check) {
  for (const char* document : {"text", "mixed", "\\u"}) {
    check_write(check, "write", document, kAppended, 0.80);
    for (const char* contender : {kAppended, kScattered}) {
      const Row* row = check.find("gather", document, contender);
      check.at_most(std::string("gather ") + document + ", " + contender + ", us", 10,
                    row != nullptr ? row->best : 0, row != nullptr);
    }
    for (const char* kernel : {"Parley avx2, first time", "Parley avx512, first time"}) {
      check_write(check, "translate", document, kernel, 0.25);
    }
  }
  for (const char* work : {", write", ", build and write"}) {
    check_write(check, "build", "text", std::string("Parley avx2") + work, 0.35);
    check_write(check, "build", "text", std::string("Parley scalar") + work, 0.10);
  }
}

void check_converting(Checker& check) {
  for (const std::string& name : convert_task::names()) {
    for (const char* kernel : {"Parley avx2, first time", "Parley avx512, first time"}) {
      check_write(check, "convert", name.c_str(), kernel, 0.25);
    }
    check_write(check, "convert", name.c_str(), kAppended, 0.70);
  }
}

// Where every chunk is cut, each is copied once more; against memcpy only the other case has a goal.
void check_streams(Checker& check) {
  for (const char* contender : {"Parley avx2, message", "Parley avx512, message"}) {
    check.times_memcpy("stream", "10,000 chunks", contender, 0.09);
    for (const char* stream : {"10,000 chunks", "10,000 chunks, each cut"}) {
      check.times("stream", stream, contender, "nlohmann, message", 8);
    }
  }
}

void check_window(Checker& check) {
  double fastest = 1e9, slowest = 0;
  for (const char* size : {"1k", "10k", "100k", "1M"}) {
    const Row* row = check.find("add", size, "Parley Memory::add");
    if (row == nullptr) return;
    fastest = std::min(fastest, row->best);
    slowest = std::max(slowest, row->best);
  }
  check.at_most("add, slowest over fastest of 1k to 1M messages", 3, slowest / fastest);
  check.at_most("add, at any size, us", 0.2, slowest);
}

void check_filters(Checker& check) {
  for (const char* document : filter_task::kDocuments) {
    for (const std::string& contender : filter_task::contenders())
      check.times_memcpy("filter", document, contender, 0.10);
  }
}

// The results lie in memory that was used before, as memcpy's do. media/pillow.sh has the goals against
// Python.
void check_media(Checker& check) {
  check.times_memcpy("base64", "10 MB", "Parley avx2, decode", 0.75);
  check.times_memcpy("base64", "10 MB", "Parley scalar, decode", 0.35);
}

}  // namespace

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  return text;
}

Goal at_least(std::string what, double wanted, double reached, bool measured) {
  return {std::move(what), ">= " + number(wanted), number(reached), measured, reached >= wanted};
}

Goal at_most(std::string what, double wanted, double reached, bool measured) {
  return {std::move(what), "<= " + number(wanted), number(reached), measured, reached <= wanted};
}

std::vector<Goal> check_goals(const Table& table, const std::vector<memory_task::Held>& held,
                              const std::vector<copy_task::Cost>& copies,
                              const std::vector<window_task::Resident>& resident) {
  Checker check(table);
  check_reading(check);
  check_writing(check);
  check_converting(check);
  check_streams(check);
  check_filters(check);
  check_media(check);
  const Row* construct = table.find("construct", "one message", "Parley user_message");
  check.at_least("construct a message with its id, x AgentScope's Msg() (7.4 us, quoted)", 30,
                 construct != nullptr ? construct_task::kAgentScopeMicroseconds / construct->best : 0,
                 construct != nullptr);
  for (const memory_task::Held& each : held) {
    check.at_most("memory " + each.document + ", bytes a message beyond the document (heap growth)", 200,
                  each.allocated_per_message());
  }
  for (const copy_task::Cost& cost : copies) {
    check.at_most(cost.operation + ", bytes allocated",
                  cost.operation.starts_with("copy a conv") ? 1003 * 24 : 0, static_cast<double>(cost.bytes));
  }
  check_window(check);
  for (const window_task::Resident& each : resident) {
    check.at_most("a memory of 1M messages of 200 bytes, " + std::to_string(each.together) +
                      " read at once, bytes each",
                  450, each.held_bytes);
  }
  return std::move(check.goals);
}

std::string to_markdown(const std::vector<Goal>& goals) {
  std::string out = "| goal | wanted | reached | |\n|---|---|---|---|\n";
  for (const Goal& goal : goals) {
    if (!goal.measured) continue;
    out += "| " + goal.what + " | " + goal.wanted + " | " + goal.reached + " | " +
           (goal.ok ? "ok" : "MISSED") + " |\n";
  }
  return out;
}

}  // namespace bench
