// GET /v1/models and /v1/models/{*}: what clients may ask for.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/exchange.h"

namespace parley::server {

std::vector<Route> model_routes();

// 404 "model_not_found". A model that the key may not ask gives the same.
ApiError no_model(std::string_view name);

}  // namespace parley::server
