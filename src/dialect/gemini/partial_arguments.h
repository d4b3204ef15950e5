// The arguments of a call that come one value at a time, each with the JSON Path (RFC 9535) of its place: how
// Gemini streams them.
//
//   path = "$" (".name" | "['name']" | "[\"name\"]" | "[index]")*, "[]" at its end for a list without
//   elements
//
// Texts at one place are joined; any other value replaces what is there. Objects and lists are made as the
// paths ask for them; elements that are skipped are null.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parley::dialect {

class PartialArguments {
 public:
  // Whether the path is one that can be taken, with up to 64 names and indexes, each below 4,096.
  static bool takes(std::string_view path);

  // Each REQUIRES: takes(path). What would make more than 100,000 values in all is left out.
  void add_text(std::string_view path, std::string_view text);
  void set(std::string_view path, std::string_view json);  // a number, true or false
  // No value: null if nothing is there and it is said to be, a list if the path ends in "[]".
  void touch(std::string_view path, bool is_null);

  // The object of all that was added, as JSON.
  std::string json() const;
  bool is_cut() const { return is_cut_; }  // something was left out

 private:
  enum class Kind : unsigned char { None, Text, Literal, Object, List };
  struct Node {
    Kind kind = Kind::None;
    std::string text;          // or the literal
    std::vector<Node> inside;  // of an object or a list
    std::vector<std::string> names;
    std::unordered_map<std::string, std::size_t> places;  // of the names
  };

  static Node of(Kind kind, std::string_view text = {}) {
    Node node;
    node.kind = kind;
    node.text = text;
    return node;
  }
  Node& at(std::string_view path);

  Node root_ = of(Kind::Object);
  Node left_out_;
  std::size_t nodes_ = 0;
  bool is_cut_ = false;
};

}  // namespace parley::dialect
