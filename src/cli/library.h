// A shared library that is loaded at its first use and stays loaded, so that it does not slow down the start
// of a program that seldom needs it.
#pragma once

#include <string_view>

#include "parley/base/error.h"

namespace parley::cli {

class Library {
 public:
  // Fails with NotFound, because a retry does not help; `package` is the package that the error names.
  static Result<Library> load(const char* name, std::string_view package);

  // Sets a pointer to the function of this name. Fails with NotFound if the library lacks it.
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
