#include "dialect/gemini/partial_arguments.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

constexpr std::size_t kMostSteps = 64;
constexpr std::size_t kMostElements = 4096;
constexpr std::size_t kMostNodes = 100'000;  // a path of sixty bytes can ask for thousands

struct Step {
  std::string name;
  std::size_t index = 0;
  bool is_index = false;
  bool is_empty = false;  // "[]"
};

// What stands in brackets: a quoted name, an index, or nothing.
std::optional<Step> bracket(std::string_view inside) {
  Step step;
  if (inside.empty()) {
    step.is_empty = true;
    return step;
  }
  const char quote = inside.front();
  if (quote == '\'' || quote == '"') {
    if (inside.size() < 2 || inside.back() != quote) return std::nullopt;
    const std::string_view quoted = inside.substr(1, inside.size() - 2);
    for (std::size_t i = 0; i < quoted.size(); ++i) {
      if (quoted[i] == '\\' && i + 1 < quoted.size()) ++i;
      step.name += quoted[i];
    }
    return step;
  }
  step.is_index = true;
  const auto [end, fault] = std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
  const bool is_good = fault == std::errc() && end == inside.data() + inside.size();
  return is_good && step.index < kMostElements ? std::optional(step) : std::nullopt;
}

// The end of the bracket that `path` begins with: its "]", which a quoted name may hold, too.
std::size_t bracket_end(std::string_view path) {
  const char quote = path.size() > 1 ? path[1] : '\0';
  if (quote != '\'' && quote != '"') return path.find(']');
  for (std::size_t i = 2; i + 1 < path.size(); ++i) {
    if (path[i] == '\\') {
      ++i;
    } else if (path[i] == quote && path[i + 1] == ']') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

std::optional<std::vector<Step>> steps_of(std::string_view path) {
  if (!path.starts_with('$')) return std::nullopt;
  path.remove_prefix(1);
  std::vector<Step> steps;
  while (!path.empty()) {
    if (steps.size() == kMostSteps || (!steps.empty() && steps.back().is_empty)) return std::nullopt;
    std::size_t size = 0;
    std::optional<Step> step;
    if (path.front() == '[') {
      const std::size_t end = bracket_end(path);
      if (end == std::string_view::npos) return std::nullopt;
      step = bracket(path.substr(1, end - 1));
      size = end + 1;
    } else if (path.front() == '.') {
      size = std::min(path.find_first_of(".[", 1), path.size());
      if (size > 1) step = Step{.name = std::string(path.substr(1, size - 1))};
    }
    if (!step) return std::nullopt;
    steps.push_back(*std::move(step));
    path.remove_prefix(size);
  }
  // The arguments are an object.
  if (steps.empty() || steps.front().is_index || steps.front().is_empty) return std::nullopt;
  return steps;
}

}  // namespace

bool PartialArguments::takes(std::string_view path) { return steps_of(path).has_value(); }

PartialArguments::Node& PartialArguments::at(std::string_view path) {
  Node* node = &root_;
  for (const Step& step : steps_of(path).value_or(std::vector<Step>())) {
    const Kind kind = step.is_index || step.is_empty ? Kind::List : Kind::Object;
    if (node->kind != kind) *node = of(kind);
    if (step.is_empty) break;
    std::size_t place = step.index;
    if (!step.is_index) {
      const auto [known, is_new] = node->places.try_emplace(step.name, node->names.size());
      if (is_new) node->names.push_back(step.name);
      place = known->second;
    }
    const std::size_t size = node->inside.size();
    if (size <= place) {
      if (nodes_ + (place + 1 - size) > kMostNodes) {
        is_cut_ = true;
        return left_out_ = Node();
      }
      nodes_ += place + 1 - size;
      node->inside.resize(place + 1);
    }
    node = &node->inside[place];
  }
  return *node;
}

void PartialArguments::add_text(std::string_view path, std::string_view text) {
  Node& node = at(path);
  if (node.kind != Kind::Text) node = of(Kind::Text);
  node.text.append(text);
}

void PartialArguments::set(std::string_view path, std::string_view json) {
  at(path) = of(Kind::Literal, json);
}

void PartialArguments::touch(std::string_view path, bool is_null) {
  if (is_null || path.ends_with("[]")) at(path);
}

std::string PartialArguments::json() const {
  json::Writer out;
  // Not deeper than a path has steps.
  const auto put = [&](const auto& self, const Node& node) -> void {
    switch (node.kind) {
      case Kind::None:
        out.null();
        return;
      case Kind::Text:
        out.string(node.text);
        return;
      case Kind::Literal:
        out.raw(node.text);
        return;
      case Kind::Object:
        out.begin_object();
        for (std::size_t i = 0; i < node.inside.size(); ++i) {
          out.key(node.names[i]);
          self(self, node.inside[i]);
        }
        out.end_object();
        return;
      case Kind::List:
        out.begin_array();
        for (const Node& inside : node.inside) self(self, inside);
        out.end_array();
        return;
    }
  };
  put(put, root_);
  return out.take_string();
}

}  // namespace parley::dialect
