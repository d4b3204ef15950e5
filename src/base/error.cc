#include "parley/base/error.h"

#include <ostream>

#include "parley/base/secret.h"

namespace parley {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::Malformed:
      return "malformed";
    case Code::InvalidUtf8:
      return "invalid_utf8";
    case Code::LoneSurrogate:
      return "lone_surrogate";
    case Code::DuplicateKey:
      return "duplicate_key";
    case Code::WrongType:
      return "wrong_type";
    case Code::Missing:
      return "missing";
    case Code::UnknownRole:
      return "unknown_role";
    case Code::WrongDialect:
      return "wrong_dialect";
    case Code::LimitExceeded:
      return "limit_exceeded";
    case Code::Invalid:
      return "invalid";
    case Code::BrokenHistory:
      return "broken_history";
    case Code::Lossy:
      return "lossy";
    case Code::Unsupported:
      return "unsupported";
    case Code::NotFound:
      return "not_found";
    case Code::Unavailable:
      return "unavailable";
    case Code::Timeout:
      return "timeout";
    case Code::Cancelled:
      return "cancelled";
    case Code::Conflict:
      return "conflict";
    case Code::Unresolved:
      return "unresolved";
    case Code::Damaged:
      return "damaged";
  }
  return "unknown";  // Not a Code; the compiler checks that every Code is above.
}

std::string to_line(const Error& error) {
  return error.path.empty() ? error.message : error.path + ": " + error.message;
}

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << to_line(error); }

std::unexpected<Error> fail(Code code, std::string message, std::string path) {
  redact(message);
  redact(path);
  return std::unexpected(Error{code, std::move(message), std::move(path)});
}

}  // namespace parley
