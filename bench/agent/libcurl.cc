// What libcurl needs for the same streams: one thread, one multi handle, and a function that counts.
#include <curl/curl.h>

#include <vector>

#include "agent/streams.h"
#include "agent/task.h"

namespace bench::agent_task {
namespace {

std::size_t count(char* /*data*/, std::size_t /*one*/, std::size_t size, void* bytes) {
  *static_cast<std::size_t*>(bytes) += size;
  return size;
}

}  // namespace

std::size_t take_by_libcurl(const std::string& url, const std::string& body) {
  std::size_t bytes = 0;
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  CURLM* multi = curl_multi_init();
  std::vector<CURL*> all(kStreams);
  for (CURL*& easy : all) {
    easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bytes);
    curl_multi_add_handle(multi, easy);
  }
  int running = 1;
  while (running > 0) {
    check(curl_multi_perform(multi, &running) == CURLM_OK, "libcurl");
    constexpr int kLongestMs = 1000;
    if (running > 0) check(curl_multi_poll(multi, nullptr, 0, kLongestMs, nullptr) == CURLM_OK, "libcurl");
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    check(message->data.result == CURLE_OK, "a stream of libcurl");
  }
  for (CURL* easy : all) {
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
  }
  curl_multi_cleanup(multi);
  curl_slist_free_all(headers);
  return bytes;
}

}  // namespace bench::agent_task
