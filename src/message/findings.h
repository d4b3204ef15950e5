// Findings are collected by place and get their JSON Pointers at the end, all in one walk per document.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parley/message/validate.h"

namespace parley {

inline constexpr std::size_t kWholeMessage = static_cast<std::size_t>(-1);

struct Place {
  std::size_t message = 0;
  std::size_t block = kWholeMessage;
  std::size_t child = kWholeMessage;  // of a result's output
};

class Findings {
 public:
  void error(std::string code, Place place, std::string sentence) {
    found_.push_back({std::move(code), FindingLevel::Error, place, std::move(sentence)});
  }
  void warning(std::string code, Place place, std::string sentence) {
    found_.push_back({std::move(code), FindingLevel::Warning, place, std::move(sentence)});
  }
  void add(Findings more);

  // In the order of the messages, with pointers.
  std::vector<Finding> finish(std::span<const Message> messages);

 private:
  struct Found {
    std::string code;
    FindingLevel level;
    Place place;
    std::string sentence;
  };
  std::vector<Found> found_;
};

Findings history_findings(std::span<const Message> messages);

}  // namespace parley
