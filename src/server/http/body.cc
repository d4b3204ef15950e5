#include "server/http/body.h"

namespace parley::server {

Result<Json> body_object(const net::ServerRequest& request) {
  if (request.body.find_first_not_of(" \t\r\n") == std::string::npos) return Json::trusted(Text("{}"));
  json::Limits limits;
  limits.depth = kMostDepth;
  PARLEY_TRY(const Json body, Json::parse(request.body, limits));
  if (!body.is_object()) return fail(Code::WrongType, "the body must be a JSON object");
  return body;
}

}  // namespace parley::server
