#include "mcp/names.h"

#include <cstddef>
#include <unordered_map>

#include "base/hash.h"

namespace parley {
namespace {

constexpr std::size_t kLongestName = 64;  // what providers take
constexpr std::size_t kHashDigits = 8;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

std::string without_underscores_behind(std::string name) {
  while (name.ends_with('_')) name.pop_back();
  return name;
}

std::string plain_name(const McpToolKey& key) {
  std::string name = "mcp_";
  for (const std::string_view piece : {key.server, std::string_view("_"), key.tool}) {
    for (const char c : piece) {
      if (is_plain(c)) {
        name += c;
      } else if (!name.ends_with('_')) {
        name += '_';
      }
    }
  }
  return without_underscores_behind(std::move(name));
}

std::string hashed_name(const std::string& plain, const McpToolKey& key) {
  std::string identity = std::to_string(key.server.size()) + ':';
  identity.append(key.server).append(key.tool);
  std::string name = without_underscores_behind(plain.substr(0, kLongestName - kHashDigits - 1));
  return name + '_' + sha256_hex(identity).substr(0, kHashDigits);
}

}  // namespace

std::vector<std::string> mcp_tool_names(std::span<const McpToolKey> keys) {
  std::vector<std::string> names;
  std::vector<bool> is_hashed(keys.size());
  names.reserve(keys.size());
  for (const McpToolKey& key : keys) names.push_back(plain_name(key));
  const auto hash = [&](std::size_t i) {
    if (is_hashed[i]) return false;
    names[i] = hashed_name(names[i], keys[i]);
    is_hashed[i] = true;
    return true;
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (names[i].size() > kLongestName) hash(i);
  }
  // A name with a hash may equal the plain name of another tool, so this repeats until nothing changes. Each
  // round but the last hashes plain names; only names of attackers need a third round.
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    std::unordered_map<std::string, std::vector<std::size_t>> users;
    for (std::size_t i = 0; i < keys.size(); ++i) users[names[i]].push_back(i);
    for (const auto& [name, indices] : users) {
      if (indices.size() == 1) continue;
      for (const std::size_t i : indices) is_changed |= hash(i);
    }
  }
  return names;
}

}  // namespace parley
