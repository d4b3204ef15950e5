# Installs the rooms, their headers and the command, with a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY PARLEY_ROOMS)
get_property(packages GLOBAL PROPERTY PARLEY_PACKAGES)
list(REMOVE_DUPLICATES packages)
set(targets ${rooms})
list(TRANSFORM targets PREPEND parley_)
get_property(apart GLOBAL PROPERTY PARLEY_ROOMS_APART)
list(TRANSFORM apart PREPEND parley_)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/parley")

install(TARGETS ${targets} ${apart} parley_parley
  EXPORT parleyTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT parleyTargets NAMESPACE parley:: DESTINATION "${package_dir}")

# parley::static, of the component "static": a program that links it is linked with -static. Its objects come before the
# libraries, so that those that need libcurl, OpenSSL and libpq are left out: Debian has no complete archives of the first and
# the last, and the second is of use to servers only.
add_library(parley_static OBJECT
  "${PROJECT_SOURCE_DIR}/src/net/without_curl/find_curl.cc"
  "${PROJECT_SOURCE_DIR}/src/net/without_openssl/find_openssl.cc"
  $<$<TARGET_EXISTS:PkgConfig::libpq>:${PROJECT_SOURCE_DIR}/src/store/without_libpq/find_pq.cc>)
set_target_properties(parley_static PROPERTIES EXPORT_NAME static CXX_EXTENSIONS OFF)
target_compile_features(parley_static PUBLIC cxx_std_23)
target_include_directories(parley_static PRIVATE
  "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include" ${curl_INCLUDE_DIRS} ${openssl_INCLUDE_DIRS} ${libpq_INCLUDE_DIRS})
target_link_options(parley_static INTERFACE -static)
parley_warnings(parley_static)
install(TARGETS parley_static EXPORT parleyStaticTargets OBJECTS DESTINATION "${CMAKE_INSTALL_LIBDIR}/parley")
install(EXPORT parleyStaticTargets NAMESPACE parley:: DESTINATION "${package_dir}")
if(TARGET parley_cli)
  install(TARGETS parley_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  set(made "${PROJECT_BINARY_DIR}/made")  # by src/cli
  install(FILES "${made}/parley.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${made}/parley" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${made}/_parley" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${made}/parley.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

# CMake: find_package(parley CONFIG). The libraries are static, so their private libraries are needed again.
set(PARLEY_DEPENDENCIES "")
set(PARLEY_REQUIRES "")
set(PARLEY_SHARED_LIBS "")
foreach(name IN LISTS packages)
  get_property(module GLOBAL PROPERTY PARLEY_MODULE_${name})
  get_property(debian GLOBAL PROPERTY PARLEY_DEBIAN_${name})
  string(APPEND PARLEY_DEPENDENCIES "parley_dependency(${name} ${module} ${debian})\n")
  get_property(shared GLOBAL PROPERTY PARLEY_SHARED_${name})
  if(shared)
    list(JOIN shared " -l" shared)
    string(APPEND PARLEY_SHARED_LIBS " -l${shared}")
  else()
    list(APPEND PARLEY_REQUIRES ${module})
  endif()
endforeach()
list(JOIN PARLEY_REQUIRES " " PARLEY_REQUIRES)

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/parleyConfig.cmake.in" "${CMAKE_CURRENT_BINARY_DIR}/parleyConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/parleyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_LIST_DIR}/ParleyArchives.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/parleyConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/parleyConfigVersion.cmake"
  DESTINATION "${package_dir}")

# pkg-config: a linker reads static libraries once, from left to right, so the highest room comes first.
set(PARLEY_LIBS "")
foreach(target IN LISTS targets)
  string(PREPEND PARLEY_LIBS " -l${target}")
endforeach()
string(STRIP "${PARLEY_LIBS}${PARLEY_SHARED_LIBS}" PARLEY_LIBS)
# The prefix is found from the file's own place, so that an installed tree can be moved.
file(RELATIVE_PATH PARLEY_PREFIX_FROM_PC
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/parley.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/parley.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/parley.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
