#include "harness.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

Contender memcpy_contender(std::size_t bytes) {
  // As long as the document, so that the caches hold as much of it.
  auto from = std::make_shared<std::vector<char>>(bytes + 64, 'x');
  auto to = std::make_shared<std::vector<char>>(bytes + 64, 'y');
  return {std::string(kMemcpy), {}, [from, to, bytes] {
            std::memcpy(to->data(), from->data(), bytes);
            keep(to->data());
            return bytes;
          }};
}

// Goes round a memory larger than the caches.
Contender cold_memcpy_contender(std::size_t bytes) {
  constexpr std::size_t kCopies = 32;
  auto from = std::make_shared<std::vector<char>>(bytes + 64, 'x');
  auto to = std::make_shared<std::vector<char>>(kCopies * bytes, 'y');
  auto next = std::make_shared<std::size_t>(0);
  return {std::string(kColdMemcpy), {}, [from, to, next, bytes] {
            char* const here = to->data() + bytes * (++*next % kCopies);
            std::memcpy(here, from->data(), bytes);
            keep(here);
            return bytes;
          }};
}

constexpr int kWarmCalls = 3;
constexpr double kWarmMicroseconds = 3000;

// Prepares the contender and times one call.
double time_of(const Contender& contender, std::size_t& count) {
  if (contender.prepare) contender.prepare();
  const auto start = Clock::now();
  count = contender.run();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double at(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace

std::vector<Row> measure(const Group& group, std::size_t rounds, std::string_view only) {
  std::vector<Contender> contenders;
  if (group.bytes != 0) contenders.push_back(memcpy_contender(group.bytes));
  if (group.writes) contenders.push_back(cold_memcpy_contender(group.bytes));
  for (Contender& contender : group.make()) {
    if (contender.name.find(only) != std::string::npos) contenders.push_back(std::move(contender));
  }

  std::vector<std::vector<double>> times(contenders.size());
  std::vector<Row> rows(contenders.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      // The contender before this one has filled the caches, and one call does not bring everything back.
      double warmed = 0;
      for (int calls = 0; calls < kWarmCalls && warmed < kWarmMicroseconds; ++calls) {
        warmed += time_of(contenders[i], rows[i].count);
      }
      times[i].push_back(time_of(contenders[i], rows[i].count) / static_cast<double>(contenders[i].repeat));
    }
  }
  double memcpy_best = 0;
  double dom_best = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    Row& row = rows[i];
    row.task = group.task;
    row.document = group.document;
    row.contender = contenders[i].name;
    row.bytes = group.bytes;
    row.best = times[i].front();
    row.median = at(times[i], 0.5);
    row.p90 = at(times[i], 0.9);
    if (row.contender == kMemcpy) memcpy_best = row.best;
    if (row.contender == kDom) dom_best = row.best;
  }
  for (Row& row : rows) {
    row.x_memcpy = memcpy_best / row.best;
    row.x_dom = dom_best / row.best;
  }
  return rows;
}

void Table::add(std::vector<Row> rows) { rows_.insert(rows_.end(), rows.begin(), rows.end()); }

const Row* Table::find(std::string_view task, std::string_view document, std::string_view contender) const {
  for (const Row& row : rows_) {
    if (row.task == task && row.document == document && row.contender == contender) return &row;
  }
  return nullptr;
}

std::string to_markdown(const std::vector<Row>& rows) {
  std::string out =
      "| task | document | contender | best us | median | p90 | GB/s | x memcpy | x simdjson DOM |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  const auto number = [](double value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return value == 0 ? std::string("-") : std::string(text);
  };
  for (const Row& row : rows) {
    const int digits = row.best < 10 ? 3 : row.best < 1000 ? 1 : 0;
    out += "| " + row.task + " | " + row.document + " | " + row.contender + " | " + number(row.best, digits) +
           " | " + number(row.median, digits) + " | " + number(row.p90, digits) + " | " +
           number(static_cast<double>(row.bytes) / row.best / 1000, 2) + " | " + number(row.x_memcpy, 3) +
           " | " + number(row.x_dom, 2) + " |\n";
  }
  return out;
}

}  // namespace bench
