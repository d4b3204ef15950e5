// One MCP server, connected on first use. Safe from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/transport.h"

namespace parley {

class McpClient {
 public:
  McpClient(McpServer server, McpOptions options);

  const std::string& name() const { return server_.name; }

  // The tools, page by page. LimitExceeded: too many of them, or pages without an end.
  Result<std::vector<McpTool>> list(const std::stop_token& stop);
  // False while the last list() is all there is to know.
  bool is_stale() const { return is_stale_; }

  // MCP1.
  ToolOutput call(std::string_view tool, const Json& arguments, const ToolContext& context);

 private:
  Result<McpMessage> ask(std::string_view method, const Json& params, Deadline deadline,
                         const std::stop_token& stop);
  Result<std::vector<McpTool>> list_pages(Deadline deadline, const std::stop_token& stop);
  Result<std::shared_ptr<McpTransport>> connected(Deadline deadline, const std::stop_token& stop);
  Result<std::shared_ptr<McpTransport>> start(Deadline deadline, const std::stop_token& stop);
  Result<void> may_start() const;
  void rest();
  void count_start(const Result<std::shared_ptr<McpTransport>>& started);
  void forget(const std::shared_ptr<McpTransport>& transport);
  std::optional<std::string> take(const McpMessage& message);

  const McpServer server_;
  const McpOptions options_;
  std::atomic<std::int64_t> last_id_ = 0;
  std::atomic<bool> is_stale_ = true;
  std::atomic<bool> has_tools_ = false;
  std::atomic<bool> has_listed_ = false;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_starting_ = false;
  int starts_ = 0;  // in a row, without an answer between them
  Deadline next_start_ = Deadline::in(std::chrono::milliseconds(0));
  std::string last_failure_;
  // Last: its threads call take().
  std::shared_ptr<McpTransport> transport_;
};

}  // namespace parley
