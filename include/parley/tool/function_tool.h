// A C++ function as a tool: describe its parameters once, and the schema is generated.
//
//   auto weather = function_tool(
//       "weather", "Says how the weather is.",
//       {param("city", "Where.").string().required(), param("days", "How many.").integer(1, 7)},
//       [](const Args& args) { return ToolOutput::text(forecast(args.string("city"), args.integer("days",
//       1))); },
//       {.has_side_effects = false});
//
// Invariants (quoted by tests as FUNCTION1..FUNCTION3):
//   FUNCTION1  The schema allows the described parameters, and no others.
//   FUNCTION2  An accessor of Args returns the model's value, or the default if the argument is missing.
//   FUNCTION3  A number that does not fit its C++ type never reaches the function.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/tool/tool.h"

namespace parley {

// One parameter of a tool. Without a type it may be any JSON. A value; one thread at a time.
class Param {
 public:
  Param(Text name, Text description) : name_(std::move(name)), description_(std::move(description)) {}

  // The type of a number in Args, which its value must fit.
  enum class Kind : std::uint8_t { Other, Integer, Number };

  Param& string() { return schema(Json::trusted(Text(R"({"type":"string"})"))); }
  Param& boolean() { return schema(Json::trusted(Text(R"({"type":"boolean"})"))); }
  Param& integer() { return schema(Json::trusted(Text(R"({"type":"integer"})")), Kind::Integer); }
  Param& integer(std::int64_t least, std::int64_t most);
  Param& number() { return schema(Json::trusted(Text(R"({"type":"number"})")), Kind::Number); }
  Param& one_of(std::span<const std::string_view> words);
  Param& one_of(std::initializer_list<std::string_view> words) {
    return one_of(std::span(words.begin(), words.size()));
  }
  Param& strings() { return schema(Json::trusted(Text(R"({"type":"array","items":{"type":"string"}})"))); }
  Param& integers() {
    return schema(Json::trusted(Text(R"({"type":"array","items":{"type":"integer"}})")), Kind::Integer);
  }
  Param& schema(Json object, Kind kind = Kind::Other);  // REQUIRES: a JSON Schema that is an object.
  Param& required() {
    is_required_ = true;
    return *this;
  }

  const Text& name() const { return name_; }
  bool is_required() const { return is_required_; }
  Kind kind() const { return kind_; }
  Json described() const;  // its schema, with the description

 private:
  Text name_;
  Text description_;
  Json schema_ = Json::trusted(Text("{}"));
  Kind kind_ = Kind::Other;
  bool is_required_ = false;
};

inline Param param(Text name, Text description) { return {std::move(name), std::move(description)}; }

// The schema of an object with these members and no others.
Json parameters_of(std::span<const Param> params);

// The arguments of one call; they match the schema. Immutable; valid during the call.
class Args {
 public:
  Args(const Json& arguments, const ToolContext& context) : arguments_(arguments), context_(context) {}

  // nullopt if the argument is missing or null.
  std::optional<Json> get(std::string_view name) const;
  bool has(std::string_view name) const { return get(name).has_value(); }

  Text string(std::string_view name, Text otherwise = {}) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  double number(std::string_view name, double otherwise = 0) const;
  bool boolean(std::string_view name, bool otherwise = false) const;
  std::vector<Text> strings(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;

  const ToolContext& context() const { return context_; }

 private:
  const Json& arguments_;
  const ToolContext& context_;
};

struct FunctionToolOptions {
  bool has_side_effects = true;
  bool is_parallel = true;
  std::optional<std::chrono::milliseconds> timeout = {};
};

// The function runs on other threads, on several at once if is_parallel. If it throws, the call is Broken and
// the model reads the exception's text.
std::shared_ptr<RunnableTool> function_tool(Text name, Text description, std::vector<Param> params,
                                            std::function<ToolOutput(const Args&)> function,
                                            FunctionToolOptions options = {});

}  // namespace parley
