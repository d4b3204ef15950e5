#include "server/http/blocking.h"

#include <utility>

namespace parley::server {

void answer_with(Service& service, const std::shared_ptr<Exchange>& exchange, std::function<Reply()> work) {
  const auto reply = std::make_shared<Reply>();
  service.engine.run(
      *exchange->loop, [reply, work = std::move(work)] { *reply = work(); },
      [reply, exchange] {
        if (*reply) return exchange->answer(200, **reply);
        answer(*exchange, reply->error());
      });
}

}  // namespace parley::server
