#include "parley/tool/tool.h"

#include <algorithm>
#include <array>
#include <utility>

namespace parley {
namespace {

template <typename Enum, std::size_t N>
struct Names {
  std::array<std::string_view, N> names;
  std::string_view of(Enum value) const { return names[static_cast<std::size_t>(value)]; }
};
constexpr Names<ToolStatus, 8> kStatuses = {
    {"ok", "failed", "broken", "not_json", "unnamed", "unknown", "denied", "interrupted"}};
constexpr Names<Permission, 3> kPermissions = {{"allow", "ask", "deny"}};

}  // namespace

std::string_view to_string(ToolStatus status) { return kStatuses.of(status); }

std::string_view to_string(Permission permission) { return kPermissions.of(permission); }

std::optional<Permission> permission_named(std::string_view name) {
  const auto* const found = std::ranges::find(kPermissions.names, name);
  if (found == kPermissions.names.end()) return std::nullopt;
  return static_cast<Permission>(found - kPermissions.names.begin());
}

ToolOutput ToolOutput::text(Text text) { return of(ToolStatus::Ok, std::move(text)); }

ToolOutput ToolOutput::of(ToolStatus status, Text sentence) {
  ToolOutput out;
  out.status = status;
  out.content.emplace_back(TextBlock{std::move(sentence)});
  return out;
}

Approval Approval::edited(Text arguments) {
  Approval out(true);
  out.edited_arguments = std::move(arguments);
  return out;
}

std::string ToolOutput::joined_text() const {
  std::string out;
  bool is_first = true;
  for (const Block& block : content) {
    const auto* const text = block.as<TextBlock>();
    if (text == nullptr) continue;
    if (!std::exchange(is_first, false)) out += '\n';
    out += text->text.view();
  }
  return out;
}

ToolResultBlock to_result(const ToolUseBlock& use, const ToolOutput& output) {
  ToolResultBlock result{use.id, use.name, {}, {}, use.is_custom};
  if (output.is_error()) result.is_error = true;
  if (output.content.empty()) {
    // What is only for programs is better than nothing.
    result.output = output.structured ? output.structured->text() : Text();
  } else if (const auto* const text = output.content.front().as<TextBlock>();
             text != nullptr && output.content.size() == 1) {
    result.output = text->text;
  } else {
    result.output = output.content;
  }
  return result;
}

Permission ToolPolicy::of(std::string_view tool, bool has_side_effects) const {
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    if (rule->tool == tool || rule->tool == "*") return rule->permission;
  }
  return has_side_effects ? Permission::Ask : Permission::Allow;
}

}  // namespace parley
