// A C++ function as a tool. The schema comes from its signature:
//
//   auto weather = tool("weather", "Weather forecast for a city",
//                       [](std::string city, std::optional<int> days) { return forecast(city, days); },
//                       {"city", "days"});
//
// or from a struct (json/typed.h has the types):
//
//   struct Trip { std::string from, to; int days = 1; };
//   PARLEY_FIELDS(Trip, from, to, days)
//   auto plan = tool("plan_trip", "Plans a trip", [](const Trip& trip) { return plan_of(trip); });
//
// or, for parameters that are known only when the program runs, from a description of each:
//
//   auto weather = function_tool(
//       "weather", "Says how the weather is.",
//       {param("city", "Where.").string().required()},
//       [](const Args& args) { return ToolOutput::text(forecast(args.string("city"))); },
//       {.has_side_effects = false});
//
// Invariants (quoted by tests as FUNCTION1..FUNCTION4):
//   FUNCTION1  The schema allows the described parameters, and no others.
//   FUNCTION2  An accessor of Args returns the model's value, or the default if the argument is missing.
//   FUNCTION3  A number that does not fit its C++ type never reaches the function.
//   FUNCTION4  A tool made by tool() runs without approval, unless its options say has_side_effects. The
//              default of function_tool() is the opposite: a call needs approval.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/typed.h"
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

namespace typed {

template <typename F>
struct Signature : Signature<decltype(&F::operator())> {};
template <typename R, typename... A>
struct Signature<R (*)(A...)> {
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
};
template <typename R, typename... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};

// A ToolOutput, a text, a Result of these, any type of json/typed.h as JSON, or nothing.
template <typename T>
ToolOutput output_of(T&& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Value, ToolOutput>) {
    return std::forward<T>(value);
  } else if constexpr (std::is_convertible_v<T, Text>) {
    return ToolOutput::text(std::forward<T>(value));
  } else if constexpr (requires { value.error().message; }) {
    if (!value) return ToolOutput::failure(to_line(value.error()));
    if constexpr (std::is_void_v<typename Value::value_type>) {
      return ToolOutput::text("done");
    } else {
      return output_of(*std::forward<T>(value));
    }
  } else {
    static_assert(Typed<Value>,
                  "a tool returns a text, a ToolOutput, a type of json/typed.h, or a Result of these");
    const Json json = to_json(value);
    ToolOutput out = ToolOutput::text(json.text());
    if (json.is_object()) out.structured = json;
    return out;
  }
}

template <typename F, typename Arguments>
ToolOutput call(const F& function, Arguments arguments) {
  if constexpr (std::is_void_v<decltype(std::apply(function, std::move(arguments)))>) {
    std::apply(function, std::move(arguments));
    return ToolOutput::text("done");
  } else {
    return output_of(std::apply(function, std::move(arguments)));
  }
}

// The argument of this name; a missing one is null, and so the empty std::optional.
template <typename T>
Result<void> read_argument(const Json& arguments, std::string_view name, T& out) {
  const std::optional<Json> value = arguments.get(name);
  if (!value && !kIsOptional<T>) return missing(name, {});
  return value ? read(*value, out, member_path({}, name)) : Result<void>();
}

using Run = std::function<ToolOutput(const Json& arguments)>;
std::shared_ptr<RunnableTool> make_tool(Tool spec, Run run, FunctionToolOptions options);
ToolOutput refused(const Error& error);  // arguments that do not fit their types

}  // namespace typed

inline constexpr FunctionToolOptions kWithoutSideEffects = {.has_side_effects = false};

// A tool from a function whose parameters have these names (FUNCTION4). A std::optional parameter may be
// missing. The function runs on other threads, as with function_tool().
template <typename F, std::size_t N>
std::shared_ptr<RunnableTool> tool(Text name, Text description, F function,
                                   const char* const (&parameters)[N],
                                   FunctionToolOptions options = kWithoutSideEffects) {
  using Arguments = typename typed::Signature<std::decay_t<F>>::Arguments;
  static_assert(std::tuple_size_v<Arguments> == N, "name each parameter of the function, in order");
  const std::vector<std::string> names(std::begin(parameters), std::end(parameters));
  const auto each = [&]<std::size_t... I>(std::index_sequence<I...>, const auto& visit) {
    (visit(names[I], std::type_identity<std::tuple_element_t<I, Arguments>>()), ...);
  };
  constexpr auto kIndices = std::make_index_sequence<N>();
  json::Writer w;
  w.begin_object().key("type").string("object").key("properties").begin_object();
  each(kIndices, [&]<typename T>(const std::string& key, std::type_identity<T>) {
    typed::write_schema<T>(w.key(key));
  });
  w.end_object().key("required").begin_array();
  each(kIndices, [&]<typename T>(const std::string& key, std::type_identity<T>) {
    if (!typed::kIsOptional<T>) w.string(key);
  });
  w.end_array().key("additionalProperties").boolean(false).end_object();
  const auto run = [function = std::move(function), names](const Json& json) {
    Arguments arguments{};
    Result<void> read;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((read = typed::read_argument(json, names[I], std::get<I>(arguments)), read) && ...);
    }(std::make_index_sequence<N>());
    return read ? typed::call(function, std::move(arguments)) : typed::refused(read.error());
  };
  return typed::make_tool({std::move(name), std::move(description), w.take()}, run, options);
}

// A tool from a function with one struct (PARLEY_FIELDS) as its parameter, or with none.
template <typename F>
std::shared_ptr<RunnableTool> tool(Text name, Text description, F function,
                                   FunctionToolOptions options = kWithoutSideEffects) {
  using Arguments = typename typed::Signature<std::decay_t<F>>::Arguments;
  if constexpr (std::tuple_size_v<Arguments> == 0) {
    const auto run = [function = std::move(function)](const Json& /*json*/) {
      return typed::call(function, Arguments());
    };
    return typed::make_tool({std::move(name), std::move(description), parameters_of({})}, run, options);
  } else {
    static_assert(std::tuple_size_v<Arguments> == 1,
                  "name the parameters: tool(name, description, f, {\"a\", \"b\"})");
    using Struct = std::tuple_element_t<0, Arguments>;
    static_assert(typed::Struct<Struct>,
                  "the parameter needs PARLEY_FIELDS, or a name: tool(name, description, f, {\"a\"})");
    const auto run = [function = std::move(function)](const Json& json) {
      Result<Struct> read = from_json<Struct>(json);
      return read ? typed::call(function, Arguments(*std::move(read))) : typed::refused(read.error());
    };
    return typed::make_tool({std::move(name), std::move(description), schema_of<Struct>()}, run, options);
  }
}

}  // namespace parley
