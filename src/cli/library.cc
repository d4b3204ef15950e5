#include "cli/library.h"

#include <dlfcn.h>

#include <string>

namespace parley::cli {

Result<Library> Library::load(const char* name, std::string_view package) {
  // The functions that the library calls are looked up when they are called, as in a program that is linked
  // to it: there are many, and a command uses few. find() looks for those that the command calls.
  void* const handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) return Library(handle, name);
  const char* const why = ::dlerror();
  return fail(Code::NotFound, "cannot load " + std::string(name) + ": install " + std::string(package) +
                                  (why == nullptr ? "" : " (" + std::string(why) + ")"));
}

Result<void*> Library::find(const char* symbol) const {
  void* const found = ::dlsym(handle_, symbol);
  if (found == nullptr) {
    return fail(Code::NotFound, std::string(name_) + " is too old: it lacks the function " + symbol);
  }
  return found;
}

}  // namespace parley::cli
