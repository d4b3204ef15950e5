#include "parley/tool/function_tool.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "parley/json/writer.h"
#include "schema/decimal.h"

namespace parley {
namespace {

// 1.0 and 1e2 are integers to JSON Schema.
std::optional<std::int64_t> integer_of(const Json& value) {
  if (value.type() != Json::Type::Number) return std::nullopt;
  const Decimal number = Decimal::of(value.text());
  constexpr std::int64_t kMostDigits = 19;
  if (!number.is_integer() || number.exponent > kMostDigits) return std::nullopt;
  const std::string digits = (number.is_negative ? "-" : "") + number.digits +
                             std::string(static_cast<std::size_t>(number.exponent), '0');
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (number.is_zero()) return 0;
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return out;
}

// Whether a value, or all elements of a list, can be given as what they are (FUNCTION3).
bool fits_type(const Param& param, const Json& value) {
  const auto fits = [&](const Json& v) {
    if (v.type() != Json::Type::Number) return true;
    switch (param.kind()) {
      case Param::Kind::Integer:
        return integer_of(v).has_value();
      case Param::Kind::Number:
        return v.as_double().has_value();
      case Param::Kind::Other:
        break;
    }
    return true;
  };
  return fits(value) && std::ranges::all_of(value.elements(), fits);
}

class FunctionTool : public RunnableTool {
 public:
  FunctionTool(Tool spec, std::vector<Param> params, std::function<ToolOutput(const Args&)> function,
               FunctionToolOptions options)
      : spec_(std::move(spec)),
        params_(std::move(params)),
        function_(std::move(function)),
        options_(options) {}

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& /*arguments*/) const override { return options_.has_side_effects; }
  bool is_parallel() const override { return options_.is_parallel; }
  std::optional<std::chrono::milliseconds> timeout() const override { return options_.timeout; }

  ToolOutput run(const Json& arguments, const ToolContext& context) override {
    const Args args(arguments, context);
    for (const Param& p : params_) {
      const auto value = args.get(p.name());
      if (value && !fits_type(p, *value)) {
        return ToolOutput::of(ToolStatus::Broken,
                              Text("/" + p.name().str() + ": the number is too large or too small"));
      }
    }
    return function_(args);
  }

 private:
  Tool spec_;
  std::vector<Param> params_;
  std::function<ToolOutput(const Args&)> function_;
  FunctionToolOptions options_;
};

}  // namespace

Param& Param::schema(Json object, Kind kind) {
  schema_ = std::move(object);
  kind_ = kind;
  return *this;
}

Param& Param::integer(std::int64_t least, std::int64_t most) {
  json::Writer w;
  w.begin_object().key("type").string("integer").key("minimum").number(least).key("maximum").number(most);
  return schema(w.end_object().take(), Kind::Integer);
}

Param& Param::one_of(std::span<const std::string_view> words) {
  json::Writer w;
  w.begin_object().key("type").string("string").key("enum").begin_array();
  for (const std::string_view word : words) w.string(word);
  return schema(w.end_array().end_object().take());
}

Json Param::described() const {
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : schema_.members()) w.key(member.key).value(member.value);
  if (!description_.empty()) w.key("description").string(description_);
  return w.end_object().take();
}

Json parameters_of(std::span<const Param> params) {
  json::Writer w;
  w.begin_object().key("type").string("object").key("properties").begin_object();
  for (const Param& p : params) w.key(p.name()).value(p.described());
  w.end_object().key("required").begin_array();
  for (const Param& p : params) {
    if (p.is_required()) w.string(p.name());
  }
  w.end_array().key("additionalProperties").boolean(false);
  return w.end_object().take();
}

std::optional<Json> Args::get(std::string_view name) const {
  auto value = arguments_.get(name);
  if (value && value->is_null()) return std::nullopt;
  return value;
}

Text Args::string(std::string_view name, Text otherwise) const {
  const auto value = get(name);
  return value ? value->as_string().value_or(std::move(otherwise)) : otherwise;
}

std::int64_t Args::integer(std::string_view name, std::int64_t otherwise) const {
  const auto value = get(name);
  return value ? integer_of(*value).value_or(otherwise) : otherwise;
}

double Args::number(std::string_view name, double otherwise) const {
  const auto value = get(name);
  return value ? value->as_double().value_or(otherwise) : otherwise;
}

bool Args::boolean(std::string_view name, bool otherwise) const {
  const auto value = get(name);
  return value ? value->as_bool().value_or(otherwise) : otherwise;
}

std::vector<Text> Args::strings(std::string_view name) const {
  std::vector<Text> out;
  const auto value = get(name);
  if (!value) return out;
  for (const Json& element : value->elements()) {
    if (auto text = element.as_string()) out.push_back(*std::move(text));
  }
  return out;
}

std::vector<std::int64_t> Args::integers(std::string_view name) const {
  std::vector<std::int64_t> out;
  const auto value = get(name);
  if (!value) return out;
  for (const Json& element : value->elements()) {
    if (const auto number = integer_of(element)) out.push_back(*number);
  }
  return out;
}

std::shared_ptr<RunnableTool> function_tool(Text name, Text description, std::vector<Param> params,
                                            std::function<ToolOutput(const Args&)> function,
                                            FunctionToolOptions options) {
  Tool spec{std::move(name), std::move(description), parameters_of(params)};
  return std::make_shared<FunctionTool>(std::move(spec), std::move(params), std::move(function), options);
}

namespace typed {
namespace {

class TypedTool : public RunnableTool {
 public:
  TypedTool(Tool spec, Run run, FunctionToolOptions options)
      : spec_(std::move(spec)), run_(std::move(run)), options_(options) {}

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& /*arguments*/) const override { return options_.has_side_effects; }
  bool is_parallel() const override { return options_.is_parallel; }
  std::optional<std::chrono::milliseconds> timeout() const override { return options_.timeout; }
  ToolOutput run(const Json& arguments, const ToolContext& /*context*/) override { return run_(arguments); }

 private:
  Tool spec_;
  Run run_;
  FunctionToolOptions options_;
};

}  // namespace

std::shared_ptr<RunnableTool> make_tool(Tool spec, Run run, FunctionToolOptions options) {
  return std::make_shared<TypedTool>(std::move(spec), std::move(run), options);
}

ToolOutput refused(const Error& error) { return ToolOutput::of(ToolStatus::Broken, to_line(error)); }

}  // namespace typed

}  // namespace parley
