// Verdicts compares everything that reads JSON here, on one document: every kernel, the cursor's two ways
// of walking, Json, the judge, and simdjson's DOM. For tests and fuzz targets.
//
// Where the cursor and the DOM differ on purpose, this is the policy:
//   - numbers that fit no double or 64-bit integer are kept as spelled; the DOM refuses them;
//   - one byte order mark is skipped; the DOM refuses it;
//   - a lone surrogate is replaced with a note, or refused when strict; the DOM refuses it;
//   - nesting ends at 512 by default; the DOM's at 1024;
//   - duplicate names are noted, or refused when strict; the DOM keeps them.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/cursor.h"
#include "json/judge_testing.h"
#include "json/kernel.h"
#include "json/pointer.h"
#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley::json {

// What one walk of a cursor over a copy of a document came to.
struct Walked {
  bool good = false;
  Code code = Code::Malformed;
  std::size_t fault = 0;
  std::string message;
  std::vector<std::pair<std::size_t, Code>> oddities;  // by place
  std::string bytes;                                   // of the document, afterwards
  judge::Node root;                                    // what was found, if walked shape by shape

  bool operator==(const Walked& other) const {
    return good == other.good && code == other.code && fault == other.fault && message == other.message &&
           oddities == other.oddities && bytes == other.bytes;
  }
};

// Takes the value at the cursor by object(), array() and string(), the way readers of known shapes do.
inline bool take_value(Cursor& cursor, judge::Node& out) {
  out.type = cursor.peek();
  out.begin = cursor.offset();
  bool good = false;
  if (out.type == '{') {
    good = cursor.object([&](std::string_view key) {
      out.members.push_back({std::string(key), judge::Node(), 0});
      return take_value(cursor, out.members.back().value);
    });
  } else if (out.type == '[') {
    good = cursor.array([&](std::uint32_t index) {
      if (index != out.elements.size()) std::abort();
      out.elements.emplace_back();
      return take_value(cursor, out.elements.back());
    });
  } else if (out.type == '"') {
    Slice inside;
    good = cursor.string(inside);
    if (good) out.text = cursor.bytes(inside);  // as spelled
    if (good && inside.offset != out.begin + 1) std::abort();
  } else {
    Slice all;
    good = cursor.skip(all);
    if (out.type == '-' || (out.type >= '0' && out.type <= '9')) out.type = '0';
    if (good && all.offset != out.begin) std::abort();
  }
  out.end = cursor.offset();
  return good;
}

inline Walked walked(std::string_view bytes, bool by_shape, const CursorOptions& options = {}) {
  Buffer buffer = Buffer::copy_of(bytes);
  Cursor cursor(buffer, options);
  Walked out;
  if (cursor.ok()) {
    if (by_shape) {
      out.good = take_value(cursor, out.root);
    } else {
      cursor.peek();
      Slice all;
      out.good = cursor.skip(all);
      if (out.good) {
        out.root.begin = all.offset;
        out.root.end = all.end();
      }
    }
    out.good = out.good && cursor.finish();
  }
  if (!out.good) {
    out.code = cursor.fault().code;
    out.fault = cursor.fault().at;
    out.message = cursor.fault().message;
  }
  if (out.good != cursor.ok()) std::abort();
  for (const Oddity& oddity : cursor.oddities()) out.oddities.emplace_back(oddity.at, oddity.code);
  std::sort(out.oddities.begin(), out.oddities.end());
  out.bytes = buffer.view();
  return out;
}

// The same value at the same places? `spelled` holds strings as they are spelled, `right` what they say.
inline bool same_places(const judge::Node& spelled, const judge::Node& right) {
  if (spelled.type != right.type || spelled.begin != right.begin || spelled.end != right.end) return false;
  if (spelled.type == '"' && judge::read_string(spelled.text + "\"", 0).text != right.text) return false;
  return std::equal(spelled.members.begin(), spelled.members.end(), right.members.begin(),
                    right.members.end(),
                    [](const auto& a, const auto& b) {
                      return a.name == b.name && same_places(a.value, b.value);
                    }) &&
         std::equal(spelled.elements.begin(), spelled.elements.end(), right.elements.begin(),
                    right.elements.end(), same_places);
}

inline std::string_view bytes_of(std::string_view document, const judge::Node& node) {
  return document.substr(node.begin, node.end - node.begin);
}

// The same value, wherever it stands and however it is spelled? Numbers by their spelling.
inline bool same_value(std::string_view a_bytes, const judge::Node& a, std::string_view b_bytes,
                       const judge::Node& b) {
  if (a.type != b.type || a.text != b.text) return false;
  if (a.type == '0' && bytes_of(a_bytes, a) != bytes_of(b_bytes, b)) return false;
  return std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [&](const auto& left, const auto& right) {
                      return left.name == right.name && same_value(a_bytes, left.value, b_bytes, right.value);
                    }) &&
         std::equal(
             a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
             [&](const auto& left, const auto& right) { return same_value(a_bytes, left, b_bytes, right); });
}

// Does a Json, found by navigation, say what the judge found?
inline bool same_json(const Json& json, std::string_view bytes, const judge::Node& right) {
  if (json.text().view() != bytes_of(bytes, right)) return false;
  const auto members = json.members();
  const auto elements = json.elements();
  const std::optional<Text> string = json.as_string();
  if (string.has_value() != (right.type == '"') || (string && string->view() != right.text)) return false;
  if (members.size() != right.members.size() || elements.size() != right.elements.size()) return false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].key.view() != right.members[i].name) return false;
    if (!same_json(members[i].value, bytes, right.members[i].value)) return false;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!same_json(elements[i], bytes, right.elements[i])) return false;
  }
  return true;
}

// True if the DOM has no type for some number below `node`.
inline bool holds_huge_number(std::string_view bytes, const judge::Node& node) {
  if (node.type == '0') {
    const std::string spelled(bytes_of(bytes, node));
    if (spelled.find_first_of(".eE") != std::string::npos)
      return std::isinf(std::strtod(spelled.c_str(), nullptr));
    if (spelled.size() > 21) return true;
    __int128 value = 0;
    for (const char c : spelled) value = c == '-' ? value : value * 10 + (c - '0');
    return spelled.front() == '-' ? value > (__int128{1} << 63) : value >= (__int128{1} << 64);
  }
  return std::any_of(node.elements.begin(), node.elements.end(),
                     [&](const auto& each) { return holds_huge_number(bytes, each); }) ||
         std::any_of(node.members.begin(), node.members.end(),
                     [&](const auto& each) { return holds_huge_number(bytes, each.value); });
}

inline bool dom_accepts(std::string_view bytes) {
  static thread_local simdjson::dom::parser parser;
  return parser.parse(bytes.data(), bytes.size()).error() == simdjson::SUCCESS;
}

// What the document is, after lone surrogates were overwritten.
inline std::string mended(std::string_view bytes, const judge::Document& right) {
  std::string out(bytes);
  for (const std::size_t at : right.lone) out.replace(at, 6, "\\ufffd");
  return out;
}

// Compares all verdicts on `bytes`. Returns what does not agree, or nothing.
inline std::string disagreement(std::string_view bytes) {
  const Limits limits;
  const judge::Document right(bytes, limits.depth);
  if (right.too_deep) {
    const Walked walk = walked(bytes, false);
    return walk.good ? "a document that is too deep is accepted" : "";
  }

  std::vector<std::pair<std::size_t, Code>> odd;
  for (const std::size_t at : right.lone) odd.emplace_back(at, Code::LoneSurrogate);
  for (const std::size_t at : right.repeated) odd.emplace_back(at, Code::DuplicateKey);
  std::sort(odd.begin(), odd.end());

  // The cursor, lenient: by every kernel, skipping and shape by shape.
  const Kernel& chosen = kernel();
  for (const bool by_shape : {false, true}) {
    use_kernel(kScalarKernel);
    const Walked scalar = walked(bytes, by_shape);
    for (const Kernel* each : kernels()) {
      if (!each->supported()) continue;
      use_kernel(*each);
      if (walked(bytes, by_shape) != scalar) return std::string(each->name) + " differs from scalar";
    }
    use_kernel(chosen);
    if (scalar.good != right.accepted)
      return scalar.good ? "the cursor accepts" : "the cursor refuses: " + scalar.message;
    if (scalar.good) {
      if (scalar.oddities != odd) return "the oddities differ";
      if (scalar.bytes != mended(bytes, right)) return "the document was changed";
      if (scalar.root.begin != right.root.begin || scalar.root.end != right.root.end)
        return "the slice differs";
      if (by_shape && !same_places(scalar.root, right.root)) return "the values differ";
    } else {
      if (scalar.fault > bytes.size()) return "the fault is outside the document";
      if (scalar.message.empty()) return "the fault has no message";
      if (!is_utf8(pointer_at(scalar.bytes, scalar.fault))) return "the pointer to the fault is no UTF-8";
    }
    // Strict: the same, but odd documents are refused.
    const Walked strict = walked(bytes, by_shape, {limits, true});
    if (strict.good != (right.accepted && odd.empty())) return "the strict cursor is wrong";
    if (strict.bytes != bytes) return "the strict cursor changed the document";
    if (right.accepted && !odd.empty() && (strict.code == Code::LoneSurrogate) == right.lone.empty() &&
        (strict.code == Code::DuplicateKey) == right.repeated.empty()) {
      return "the strict cursor gives the wrong code";
    }
  }

  // simdjson's DOM.
  const bool dom_should =
      right.accepted && right.lone.empty() && !right.has_mark && !holds_huge_number(bytes, right.root);
  if (dom_accepts(bytes) != dom_should) return dom_should ? "the DOM refuses" : "the DOM accepts";

  // Json.
  const Result<Json> json = Json::parse(bytes);
  if (json.has_value() != (right.accepted && right.lone.empty())) return "Json::parse is wrong";
  if (!json) return is_utf8(json.error().path) ? "" : "the path of the error is no UTF-8";
  if (!same_json(*json, bytes, right.root)) return "Json finds other values";
  const Json compact = json->compact();
  const judge::Document compacted(compact.text());
  if (!compacted.accepted || !same_value(compact.text(), compacted.root, bytes, right.root))
    return "compact() changed a value";
  if (compact.compact() != compact || compact.text().size() > json->text().size())
    return "compact() is not compact";
  const std::string pretty = json->pretty();
  const judge::Document prettied(pretty);
  if (!prettied.accepted || !same_value(pretty, prettied.root, bytes, right.root))
    return "pretty() changed a value";
  if (!Json::equal(*json, compact) || !Json::equal(compact, *json)) return "equal() is wrong";

  // Places: the pointer to a value leads back to it, if no name stands twice.
  if (!right.repeated.empty()) return "";
  const judge::Node* node = &right.root;
  std::size_t level = 0;
  for (std::size_t turn = bytes.size();; turn = turn / 2 + 1) {
    const bool is_leaf = node->elements.empty() && node->members.empty();
    if (++level < 16 || is_leaf) {  // not at each of many levels: that would cost the square
      const std::string pointer = pointer_at(bytes, node->begin);
      const std::optional<Json> found = json->at(pointer);
      if (!found || found->text().view() != bytes_of(bytes, *node)) {
        return "the pointer '" + pointer + "' leads elsewhere";
      }
    }
    if (!node->elements.empty()) {
      node = &node->elements[turn % node->elements.size()];
    } else if (!node->members.empty()) {
      node = &node->members[turn % node->members.size()].value;
    } else {
      return "";
    }
  }
}

}  // namespace parley::json
