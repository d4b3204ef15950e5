// A shared library that is loaded when something needs it first, and stays. What a program seldom needs, or
// can load while it does something else, does not hold up its start.
#pragma once

#include <string_view>

#include "parley/base/error.h"

namespace parley::cli {

class Library {
 public:
  // Fails with NotFound, as trying again does not help; `package` is what a user would have to install.
  static Result<Library> load(const char* name, std::string_view package);

  // Sets a pointer to the function of this name. NotFound if the library has none.
  template <typename Function>
  Result<void> find(const char* symbol, Function*& function) const {
    PARLEY_TRY(void* const found, find(symbol));
    function = reinterpret_cast<Function*>(found);
    return {};
  }

 private:
  Library(void* handle, const char* name) : handle_(handle), name_(name) {}
  Result<void*> find(const char* symbol) const;

  void* handle_;
  const char* name_;
};

}  // namespace parley::cli
