#include "server/openai/paging.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "parley/json/writer.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostPerPage = 100;

std::unexpected<Error> bad_parameter(std::string message, std::string_view name) {
  return fail(Code::Invalid, std::move(message), "/" + std::string(name));
}

}  // namespace

Result<PageQuery> page_query(const Exchange& exchange, PageQuery out) {
  if (const auto limit = exchange.query("limit")) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(limit->data(), limit->data() + limit->size(), value);
    if (error != std::errc() || end != limit->data() + limit->size() || value > kMostPerPage) {
      return bad_parameter("limit must be a number from 1 to 100", "limit");
    }
    out.limit = std::max<std::size_t>(value, 1);
  }
  if (const auto order = exchange.query("order")) {
    if (order != "asc" && order != "desc") return bad_parameter("order must be asc or desc", "order");
    out.is_ascending = order == "asc";
  }
  out.after = exchange.query("after").value_or("");
  return out;
}

Result<Json> page_of(std::span<const Json> all, const PageQuery& query) {
  const std::size_t size = all.size();
  const auto at = [&](std::size_t i) -> const Json& {
    return query.is_ascending ? all[i] : all[size - 1 - i];
  };
  std::size_t first = 0;
  if (!query.after.empty()) {
    while (first < size && id_in(at(first)) != query.after) ++first;
    if (first == size) return bad_parameter("after is not the id of an element of this list", "after");
    ++first;
  }
  std::vector<Json> data;
  for (std::size_t i = first; i < size && data.size() < query.limit; ++i) data.push_back(at(i));
  return list_page(data, first + data.size() < size);
}

Json list_page(std::span<const Json> data, bool has_more, std::string last_id) {
  if (last_id.empty() && !data.empty()) last_id = id_in(data.back());
  json::Writer w;
  w.begin_object().key("object").string("list").key("data").begin_array();
  for (const Json& element : data) w.value(element);
  w.end_array();
  w.key("first_id").string(data.empty() ? std::string() : id_in(data.front()));
  w.key("last_id").string(last_id);
  w.key("has_more").boolean(has_more);
  return w.end_object().take();
}

std::string id_in(const Json& object) {
  return object.get("id").value_or(Json()).as_string().value_or(Text()).str();
}

}  // namespace parley::server
