// Parley's tools under OpenManus' names. Most differ by the name alone; programs give their output otherwise.
#include <array>
#include <cstdio>

#include "parley/json/writer.h"
#include "parley/tool/builtin.h"
#include "parley/tool/plan.h"
#include "tool/python_repr.h"

namespace parley {
namespace {

using std::chrono::milliseconds;

// What a program said, by its structured form (program_output.h). Nothing if it did not start.
struct Said {
  std::string output, errors;
  bool is_good = false;
};
std::optional<Said> said_by(const ToolOutput& output) {
  if (!output.structured) return std::nullopt;
  const auto text = [&](std::string_view key) { return output.structured->get(key)->as_string()->str(); };
  return Said{text("stdout"), text("stderr"), output.status == ToolStatus::Ok};
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

ToolOutput as_bash(ToolOutput output, milliseconds timeout) {
  const auto said = said_by(output);
  if (!said) return output;
  if (output.status == ToolStatus::Interrupted) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.1f", static_cast<double>(timeout.count()) / 1000);
    return ToolOutput::failure(Text("timed out: bash has not returned in " + std::string(seconds.data()) +
                                    " seconds and must be restarted"));
  }
  const std::string errors = without_line_end(said->errors);
  if (!errors.empty()) return ToolOutput::failure(Text(errors));
  return ToolOutput::text(Text(without_line_end(said->output)));
}

ToolOutput as_python(ToolOutput output, milliseconds timeout) {
  const auto said = said_by(output);
  if (!said) return output;
  const bool is_late = output.status == ToolStatus::Interrupted;
  json::Writer w;
  w.begin_object().key("observation");
  w.string(is_late ? "Execution timeout after " + std::to_string(timeout.count() / 1000) + " seconds"
                   : said->output + said->errors);
  w.key("success").boolean(said->is_good).end_object();
  ToolOutput out;
  out.structured = w.take();
  return out;
}

// A tool with another name and another output.
class Adapted : public RunnableTool {
 public:
  using Adapt = ToolOutput (*)(ToolOutput output, milliseconds timeout);
  Adapted(std::shared_ptr<RunnableTool> inner, Text name, Adapt adapt,
          std::optional<milliseconds> timeout = {})
      : inner_(std::move(inner)), spec_(inner_->spec()), adapt_(adapt), timeout_(timeout) {
    spec_.name = std::move(name);
  }

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& arguments) const override { return inner_->has_side_effects(arguments); }
  bool is_parallel() const override { return inner_->is_parallel(); }
  std::optional<milliseconds> timeout() const override { return timeout_; }
  ToolOutput run(const Json& arguments, const ToolContext& context) override {
    return adapt_(inner_->run(arguments, context), context.timeout);
  }

 private:
  std::shared_ptr<RunnableTool> inner_;
  Tool spec_;
  Adapt adapt_;
  std::optional<milliseconds> timeout_;
};

// OpenManus shows the model the list of statuses, and accepts any.
class Terminate : public RunnableTool {
 public:
  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& /*arguments*/) const override { return false; }
  const Json& accepted() const override { return accepted_; }
  ToolOutput run(const Json& arguments, const ToolContext& /*context*/) override {
    const Json status = arguments.get("status").value_or(Json());
    const auto text = status.as_string();
    return ToolOutput::text(Text("The interaction has been completed with status: " +
                                 (text ? text->str() : python_repr(status))));
  }

 private:
  const Tool spec_ = terminate_tool()->spec();
  const Json accepted_ = Json::trusted(Text(R"({"type":"object","required":["status"]})"));
};

}  // namespace

Result<std::vector<std::shared_ptr<RunnableTool>>> openmanus_tools(const OpenManusToolsOptions& options) {
  constexpr milliseconds kPythonTimeout{5'000};
  PARLEY_TRY(auto editor, files_tool(options.root, Text("str_replace_editor")));
  std::vector<std::shared_ptr<RunnableTool>> tools = {
      std::make_shared<Adapted>(python_tool(options.programs), Text("python_execute"), as_python,
                                kPythonTimeout),
      std::make_shared<Adapted>(bash_tool(options.programs), Text("bash"), as_bash), std::move(editor),
      std::make_shared<PlanTool>(Text("planning"))};
  if (options.ask) tools.push_back(ask_human_tool(options.ask));
  tools.push_back(std::make_shared<Terminate>());
  return tools;
}

}  // namespace parley
