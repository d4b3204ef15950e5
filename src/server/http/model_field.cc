#include "server/http/model_field.h"

#include <algorithm>
#include <utility>

#include "net/fields.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::server {
namespace {

std::string lower_text(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), net::lower);
  return out;
}

using Found = Result<std::optional<ModelField>>;

std::unexpected<Error> unclear(std::string message) {
  return fail(Code::Invalid, std::move(message), "/model");
}

// A body without a type counts as JSON; one of another type may still be JSON.
Found in_json(std::string_view body, bool must_be_json) {
  if (body.empty()) return std::nullopt;
  const Result<Json> json = Json::parse(body);
  if (!json && must_be_json) return unclear("the body is not valid JSON: " + json.error().message);
  if (!json) return std::nullopt;
  const std::vector<Json::Member> members = json->members();
  const auto is_model = [](const Json::Member& member) { return member.key == "model"; };
  const auto found = std::ranges::find_if(members, is_model);
  if (found == members.end()) return std::nullopt;
  if (std::ranges::count_if(members, is_model) > 1) return unclear("the body names two models");
  const auto name = found->value.as_string();
  if (!name) return unclear("'model' is not a string");
  // The text of the whole is the body without the whitespace around it.
  const std::size_t start = body.find_first_not_of(" \t\r\n");
  const auto within = static_cast<std::size_t>(found->value.text().data() - json->text().data());
  return ModelField{name->str(), start + within, found->value.text().size(), true};
}

// "xyz" of `multipart/form-data; boundary="xyz"`.
std::string boundary_of(std::string_view content_type) {
  constexpr std::string_view kBoundary = "boundary=";
  const std::size_t at = lower_text(content_type).find(kBoundary);
  if (at == std::string::npos) return {};
  std::string_view value = content_type.substr(at + kBoundary.size());
  if (value.starts_with('"')) return std::string(value.substr(1, value.find('"', 1) - 1));
  return std::string(value.substr(0, value.find_first_of("; \t")));
}

// A parameter "name", which is not the end of "filename".
bool names_the_model(std::string_view part_head) {
  const std::string head = lower_text(part_head);
  for (const std::string_view parameter : {"name=\"model\"", "name=model"}) {
    for (std::size_t at = head.find(parameter); at != std::string::npos; at = head.find(parameter, at + 1)) {
      const char before = at == 0 ? ' ' : head[at - 1];
      const std::size_t end = at + parameter.size();
      const bool is_end = end == head.size() || head[end] == ';' || head[end] == '\r' || head[end] == ' ';
      if (is_end && (before == ' ' || before == ';' || before == '\t')) return true;
    }
  }
  return false;
}

// --BOUNDARY CRLF head CRLF CRLF value CRLF --BOUNDARY ... --BOUNDARY--
Found in_form(std::string_view body, std::string_view boundary) {
  const std::string mark = "--" + std::string(boundary);
  std::optional<ModelField> found;
  std::size_t at = body.find(mark);
  if (at == std::string_view::npos) return unclear("the body has no part");
  while (!body.substr(at + mark.size()).starts_with("--")) {
    const std::size_t head = at + mark.size();
    const std::size_t end_of_head = body.find("\r\n\r\n", head);
    const std::size_t next =
        end_of_head == std::string_view::npos ? end_of_head : body.find("\r\n" + mark, end_of_head + 4);
    if (next == std::string_view::npos) return unclear("a part of the body has no end");
    if (names_the_model(body.substr(head, end_of_head - head))) {
      const std::size_t value = end_of_head + 4;
      const std::string_view name = body.substr(value, next - value);
      if (found) return unclear("the body names two models");
      if (!is_utf8(name)) return unclear("the name of the model is not UTF-8");
      found = ModelField{std::string(name), value, name.size(), false};
    }
    at = next + 2;
  }
  return found;
}

}  // namespace

std::string ModelField::replaced(std::string_view body, std::string_view other) const {
  std::string out(body.substr(0, offset));
  if (is_json) {
    json::append_string(out, other);
  } else {
    out += other;
  }
  return out.append(body.substr(offset + length));
}

Found model_field(std::string_view body, std::string_view content_type) {
  const std::string type = lower_text(content_type);
  if (!type.starts_with("multipart/form-data")) return in_json(body, type.empty() || type.contains("json"));
  const std::string boundary = boundary_of(content_type);
  const std::size_t first = type.find("boundary=");
  if (boundary.empty() || type.find("boundary=", first + 1) != std::string::npos) {
    return unclear("the Content-Type of the form needs one boundary");
  }
  return in_form(body, boundary);
}

}  // namespace parley::server
