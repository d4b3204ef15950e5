// For tests: a folder with a certificate for 127.0.0.1 that openssl(1) made and signed with its own key.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "net/child_testing.h"

namespace parley::net {

class TestCertificate {
 public:
  explicit TestCertificate(const std::string& name = "parley") {
    folder_ = testing::TempDir() + "/parley-tls-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    make(name);
  }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;
  ~TestCertificate() { std::filesystem::remove_all(folder_); }

  // Makes both files anew.
  void make(const std::string& name) const {
    Child openssl({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                   "-nodes", "-keyout", key(), "-out", certificate(), "-days", "2", "-subj", "/CN=" + name,
                   "-addext", "subjectAltName=IP:127.0.0.1"});
    EXPECT_EQ(openssl.end(), 0);
  }
  std::string key() const { return folder_ + "/key.pem"; }
  std::string certificate() const { return folder_ + "/certificate.pem"; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace parley::net
