// Pages of OpenAI's lists: {"object": "list", "data", "first_id", "last_id", "has_more"}.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "server/http/exchange.h"

namespace parley::server {

struct PageQuery {
  std::size_t limit = 20;
  bool is_ascending = false;
  std::string after = {};  // the id of the last item of the page before; empty: the first page
};
// "limit" (1 to 100), "order" ("asc", "desc") and "after" of the query. Fails with Invalid, naming the
// parameter.
Result<PageQuery> page_query(const Exchange& exchange, PageQuery otherwise = {});

// The page of a list that is complete and in ascending order; each element has an "id". Fails with Invalid if
// there is no element `after`.
Result<Json> page_of(std::span<const Json> all, const PageQuery& query);

// A page as it is. The ids of an empty one are "". `last_id`: the next page begins after it, if that is not
// the last element.
Json list_page(std::span<const Json> data, bool has_more, std::string last_id = {});

std::string id_in(const Json& object);  // its "id"; empty if there is none

}  // namespace parley::server
