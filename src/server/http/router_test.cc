#include "server/http/router.h"

#include <gtest/gtest.h>

#include "server/http/responder_testing.h"

namespace parley::server {
namespace {

const Router& router() {
  static const Router out({
      {"GET", "/v1/a/{}", {}},
      {"POST", "/v1/a/{}", {}},
      {"POST", "/v1/a/{}/b", {}},
      {"POST", "/v1/a/compact", {}},
      {"GET", "/v1/models", {}},
      {"GET", "/v1/models/{*}", {}},
      {"GET", "/v1/models/{}/x", {}},
      {"GET", "/", {}},
  });
  return out;
}

struct Found {
  std::string route = {};  // "GET /v1/a/{}: PARAMETER, PARAMETER"
  std::shared_ptr<KeptResponse> response = std::make_shared<KeptResponse>();
};

Found find(std::string method, std::string path) {
  Found out;
  Exchange exchange;
  exchange.request.method = std::move(method);
  exchange.request.path = std::move(path);
  exchange.responder = out.response;
  if (const Route* route = router().find(exchange)) {
    out.route.append(route->method).append(" ").append(route->pattern);
    for (const std::string& parameter : exchange.parameters) out.route += " " + parameter;
  }
  return out;
}

// ROUTER1
TEST(Router, PrefersLiteralParts) {
  EXPECT_EQ(find("GET", "/v1/a/1").route, "GET /v1/a/{} 1");
  EXPECT_EQ(find("POST", "/v1/a/1").route, "POST /v1/a/{} 1");
  EXPECT_EQ(find("POST", "/v1/a/compact").route, "POST /v1/a/compact");
  EXPECT_EQ(find("GET", "/v1/a/compact").route, "GET /v1/a/{} compact");
  EXPECT_EQ(find("POST", "/v1/a/1/b").route, "POST /v1/a/{}/b 1");
  EXPECT_EQ(find("GET", "/v1/models/p/x").route, "GET /v1/models/{}/x p");
  EXPECT_EQ(find("GET", "/").route, "GET /");
}

// ROUTER4
TEST(Router, DecodesParts) {
  EXPECT_EQ(find("GET", "/v1/a/x%2Fy%20z").route, "GET /v1/a/{} x/y z");
  EXPECT_EQ(find("GET", "/v1/models/p%2Fm").route, "GET /v1/models/{*} p/m");
  EXPECT_EQ(find("GET", "/v1/models/p/m%3A1/q").route, "GET /v1/models/{*} p/m:1/q");
  EXPECT_EQ(find("GET", "/v1/a/%FF").route, "GET /v1/a/{} \xEF\xBF\xBD");
}

// ROUTER2
TEST(Router, AnswersUnknownPathsAndMethods) {
  for (const char* path : {"/v2", "/v1/a", "/v1/a/", "/v1/a/1/", "/v1/a//b", "/v1/models/", "", "*", "//"}) {
    const auto missing = find("GET", path).response;
    EXPECT_EQ(missing->status, 404) << path;
    EXPECT_EQ(Json::parse(missing->body).value().at("/error/code")->as_string(), "unknown_path");
  }
  const auto wrong = find("DELETE", "/v1/a/1").response;
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->header("Allow"), "GET, POST");
  EXPECT_EQ(Json::parse(wrong->body).value().at("/error/type")->as_string(), "invalid_request_error");
}

// ROUTER3
TEST(Router, ServesHeadByGet) { EXPECT_EQ(find("HEAD", "/v1/models").route, "GET /v1/models"); }

}  // namespace
}  // namespace parley::server
