// The goals of Parley's hot paths and how far they are reached. A goal that is missed says so.
#pragma once

#include <string>
#include <vector>

#include "copy/task.h"
#include "harness.h"
#include "memory/task.h"
#include "window/task.h"

namespace bench {

struct Goal {
  std::string what, wanted, reached;
  bool measured = false;
  bool ok = false;
};

Goal at_least(std::string what, double wanted, double reached, bool measured = true);
Goal at_most(std::string what, double wanted, double reached, bool measured = true);
std::string number(double value);  // as tables have it

// The row of what a contender did; null if that was not measured.
template <typename Measured>
const Measured* find(const std::vector<Measured>& all, const std::string& what,
                     const std::string& contender) {
  for (const Measured& row : all) {
    if (row.what == what && row.contender == contender) return &row;
  }
  return nullptr;
}

std::vector<Goal> check_goals(const Table& table, const std::vector<memory_task::Held>& held,
                              const std::vector<copy_task::Cost>& copies,
                              const std::vector<window_task::Resident>& resident);

// A table of the goals that were measured in this run.
std::string to_markdown(const std::vector<Goal>& goals);

}  // namespace bench
