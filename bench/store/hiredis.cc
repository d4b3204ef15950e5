// What hiredis needs for the same script: one EVALSHA an append, on connections that are there.
#include <hiredis.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "store/contender.h"
#include "store/redis/keys.h"
#include "store/redis/scripts.h"

namespace bench::store_task {
namespace {

using parley::store::RedisKeys;
using parley::store::Script;

class Hiredis final : public Contender {
 public:
  Hiredis(const std::string& socket, std::size_t connections) : connections_(connections) {
    const std::string text = parley::store::script_text(Script::Append);
    for (redisContext*& connection : connections_) {
      connection = redisConnectUnix(socket.c_str());
      check(connection != nullptr && connection->err == 0, "hiredis");
      redisReply* reply = ask(connection, {"SCRIPT", "LOAD", text});
      script_.assign(reply->str, reply->len);
      freeReplyObject(reply);
    }
  }
  ~Hiredis() override {
    for (redisContext* connection : connections_) redisFree(connection);
  }

  void append(std::size_t session, std::size_t count) override {
    const RedisKeys keys = parley::store::live_keys("bare:session " + std::to_string(session));
    const std::string batch =
        std::to_string(::getpid()) + "." + std::to_string(session) + "." + std::to_string(count);
    const std::string hash = std::to_string(count * 0x9E3779B97F4A7C15U);
    const std::string row = "7:message6:parley0:4:user0:13:1763200000000" + std::to_string(hash.size()) +
                            ":" + hash + std::to_string(batch.size()) + ":" + batch;
    const std::string body = body_of(count);
    const std::string text = text_of(body);
    const std::string size = std::to_string(body.size());
    redisReply* reply = ask(connections_[session % connections_.size()], {"EVALSHA",
                                                                          script_,
                                                                          "4",
                                                                          keys.head,
                                                                          keys.log,
                                                                          keys.batches,
                                                                          keys.media,
                                                                          batch,
                                                                          hash,
                                                                          "",
                                                                          "",
                                                                          "",
                                                                          "bare",
                                                                          "1763200000000",
                                                                          "1763200000000",
                                                                          "what was said",
                                                                          "0",
                                                                          "64",
                                                                          "1",
                                                                          "0",
                                                                          row,
                                                                          body,
                                                                          text,
                                                                          size});
    check(reply->type == REDIS_REPLY_ARRAY && std::string_view(reply->element[0]->str) == "ok", "hiredis");
    freeReplyObject(reply);
  }

 private:
  static redisReply* ask(redisContext* connection, const std::vector<std::string_view>& words) {
    std::vector<const char*> data;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      data.push_back(word.data());
      sizes.push_back(word.size());
    }
    void* reply = redisCommandArgv(connection, static_cast<int>(words.size()), data.data(), sizes.data());
    check(reply != nullptr && static_cast<redisReply*>(reply)->type != REDIS_REPLY_ERROR, "hiredis");
    return static_cast<redisReply*>(reply);
  }

  std::vector<redisContext*> connections_;
  std::string script_;
};

}  // namespace

std::unique_ptr<Contender> bare_hiredis(const std::string& socket, std::size_t connections) {
  return std::make_unique<Hiredis>(socket, connections);
}

}  // namespace bench::store_task
