// What the client makes of certificates, with the server that OpenSSL's own command is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "parley/net/http.h"

namespace parley::net {
namespace {

// A child process whose output can be read.
class Child {
 public:
  explicit Child(std::vector<std::string> words) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ), 0)
        << words[0] << " is needed";
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    end();
    close(out_);
  }

  int end() {
    int status = -1;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  // The rest of the first line that begins with `start`.
  std::string line(std::string_view start) {
    std::string line;
    for (char c = 0; read(out_, &c, 1) == 1;) {
      if (c != '\n') {
        line += c;
      } else if (line.starts_with(start)) {
        return line.substr(start.size());
      } else {
        line.clear();
      }
    }
    return "";
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/parley-tls-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    Child make({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-keyout", key(), "-out", certificate(), "-days", "2", "-subj", "/CN=parley",
                "-addext", "subjectAltName=IP:127.0.0.1"});
    ASSERT_EQ(make.end(), 0);
    // It ends after one connection, and only then is sure to have written all that it says.
    server_.emplace(std::vector<std::string>{"openssl", "s_server", "-accept", "127.0.0.1:0", "-key", key(),
                                             "-cert", certificate(), "-www", "-alpn", "http/1.1", "-naccept",
                                             "1"});
    const std::string place = server_->line("ACCEPT ");
    ASSERT_FALSE(place.empty());
    request_.url = parse_url("https://" + place + "/").value();
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::string key() const { return folder_ + "/key.pem"; }
  std::string certificate() const { return folder_ + "/certificate.pem"; }

  Request request_;
  std::optional<Child> server_;

 private:
  std::string folder_;
};

// HTTP10
TEST_F(Tls, RefusesAnUntrustedCertificate) {
  const auto response = send(request_);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
  EXPECT_EQ(response.error().message, "the certificate of 127.0.0.1 is not trusted");
}

// HTTP10
TEST_F(Tls, TakesACertificateThatTheFileNames) {
  request_.ca_file = certificate();
  const auto response = send(request_);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(server_->line("ALPN protocols advertised by the client: "), "h2, http/1.1")
      << "HTTP/2 is offered";
}

// HTTP10
TEST_F(Tls, RefusesACertificateForAnotherName) {
  request_.ca_file = certificate();
  request_.addresses = {*request_.url.address};
  Url other = parse_url("https://other.example/").value();
  other.port = request_.url.port;
  request_.url = other;
  const auto response = send(request_);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "the certificate of other.example is not trusted");
}

TEST_F(Tls, RefusesAnInvalidCertificateFile) {
  request_.ca_file = key() + ".missing";
  const auto response = send(request_);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Invalid);
}

}  // namespace
}  // namespace parley::net
