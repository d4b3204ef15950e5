# How a room (one folder of src/) becomes a library, and what all rooms share.
#
#   parley_package(NAME MODULE DEBIAN [SHARED] [ARCHIVE] [OPTIONAL])  finds the pkg-config module MODULE as PkgConfig::NAME;
#                                     DEBIAN is the Debian package it comes with, which an error names.
#                                     SHARED: it is always linked as a shared library, so `pkg-config --static parley`
#                                     does not ask for the libraries that only its static form needs. ARCHIVE: the
#                                     programs of this build have it inside, if there are archives of it, so that
#                                     they start faster; who links the installed library decides for himself.
#                                     OPTIONAL: the target is not made if the module is missing, and a message says so
#   parley_room(NAME [DEPENDS ...] [LINK_PRIVATE ...] [WITHOUT ...] [APART])
#   parley_add_tests(FILES...)        adds sources to the one test program, parley_tests
#   parley_warnings(TARGET)           the project's warnings
#   parley_unity(OUT SOURCES...)      the sources, those of one folder joined into few files to compile
#   parley_umbrella()                 parley::parley, all rooms made so far
#
# Global properties: PARLEY_ROOMS (in dependency order), PARLEY_ROOMS_APART, PARLEY_TEST_SOURCES, PARLEY_PACKAGES (the names
# that rooms link), PARLEY_MODULE_<name> (the pkg-config module of a name), PARLEY_DEBIAN_<name> (its Debian package),
# PARLEY_SHARED_<name> (its libraries, if it is shared).
include_guard(GLOBAL)
set(PARLEY_ROOT "${CMAKE_CURRENT_LIST_DIR}/..")
cmake_path(NORMAL_PATH PARLEY_ROOT)

find_package(PkgConfig REQUIRED)

include("${CMAKE_CURRENT_LIST_DIR}/ParleyArchives.cmake")

macro(parley_package name module debian)
  set(parley_package_flags ${ARGN})
  pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${name}_FOUND)
    if("OPTIONAL" IN_LIST parley_package_flags)
      message(STATUS "${module} is not there: what needs it is left out (Debian package ${debian})")
    else()
      message(FATAL_ERROR "Parley needs ${module}: install the Debian package ${debian}")
    endif()
  endif()
  set_property(GLOBAL PROPERTY PARLEY_MODULE_${name} ${module})
  set_property(GLOBAL PROPERTY PARLEY_DEBIAN_${name} ${debian})
  if("SHARED" IN_LIST parley_package_flags)
    set_property(GLOBAL PROPERTY PARLEY_SHARED_${name} "${${name}_LIBRARIES}")
  endif()
  if("ARCHIVE" IN_LIST parley_package_flags AND ${name}_FOUND)
    parley_use_archives(${name} parley_no_archive)
  endif()
endmacro()

function(parley_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow)
  if(PARLEY_UNITY)  # a class of a joined file looks as if it were of a header
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(PARLEY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

function(parley_add_tests)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set_property(GLOBAL APPEND PROPERTY PARLEY_TEST_SOURCES "${file}")
  endforeach()
endfunction()

# Reading headers is most of a compiler's work, so up to eight sources of one folder are compiled as one file. Kernels for an
# instruction set and files that PARLEY_ALONE names stay alone; those that PARLEY_TOGETHER names, because they include the
# same large headers, are one file. The files name sources from src/, so that a compiler cache knows them in every clone.
function(parley_unity out)
  if(NOT PARLEY_UNITY)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(files "")
  set(folder "")
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH its_folder)
    cmake_path(GET source FILENAME name)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PARLEY_ROOT}/src" OUTPUT_VARIABLE place)
    if(name MATCHES "_(avx2|avx512|ssse3|scalar)\\.cc$" OR name IN_LIST PARLEY_ALONE)
      list(APPEND files "${source}")
      continue()
    endif()
    if(NOT its_folder STREQUAL folder)
      set(folder "${its_folder}")
      set(number 0)
    endif()
    if(name IN_LIST PARLEY_TOGETHER)
      set(group "together")
    else()
      math(EXPR group "${number} / 8 + 1")
      math(EXPR number "${number} + 1")
    endif()
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PARLEY_ROOT}/src" OUTPUT_VARIABLE file)
    string(REPLACE "/" "_" file "${file}_${group}.cc")
    list(APPEND joined ${file})
    string(APPEND text_of_${file} "#include \"${place}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES joined)
  foreach(file IN LISTS joined)
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text_of_${file}}" @ONLY)  # written only if it changed
    list(APPEND files "${CMAKE_CURRENT_BINARY_DIR}/${file}")
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Makes the static library parley_<room>, alias parley::<room>, of every .cc file below the folder. *_test.cc and
# *_testing.cc belong to the tests.
#   DEPENDS       rooms whose headers this room's headers or sources include
#   LINK_PRIVATE  third-party targets; their headers may appear in .cc files only
#   WITHOUT       folders that are left out
#   APART         not part of parley::parley: a program links it by its own name
function(parley_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "" "DEPENDS;LINK_PRIVATE;WITHOUT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "parley_room(${room}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  foreach(folder IN LISTS arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test(ing)?\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test(ing)?\\.cc$")

  set(target parley_${room})
  parley_unity(sources ${sources})
  add_library(${target} STATIC ${sources})
  add_library(parley::${room} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${room}
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} PUBLIC cxx_std_23)
  parley_warnings(${target})

  # A public header is public by being in include/parley/<room>.
  file(GLOB headers CONFIGURE_DEPENDS "${PARLEY_ROOT}/include/parley/${room}/*.h")
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PARLEY_ROOT}/include" FILES ${headers})
  target_include_directories(${target} PRIVATE "${PARLEY_ROOT}/src")

  list(TRANSFORM arg_DEPENDS PREPEND parley_)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LINK_PRIVATE})
  foreach(library IN LISTS arg_LINK_PRIVATE)
    if(library MATCHES "^PkgConfig::(.+)$")
      set_property(GLOBAL APPEND PROPERTY PARLEY_PACKAGES ${CMAKE_MATCH_1})
    endif()
  endforeach()

  if(arg_APART)
    set_property(GLOBAL APPEND PROPERTY PARLEY_ROOMS_APART ${room})
  else()
    set_property(GLOBAL APPEND PROPERTY PARLEY_ROOMS ${room})
  endif()
  parley_add_tests(${tests})
endfunction()

function(parley_umbrella)
  get_property(rooms GLOBAL PROPERTY PARLEY_ROOMS)
  list(TRANSFORM rooms PREPEND parley_)
  add_library(parley_parley INTERFACE)
  add_library(parley::parley ALIAS parley_parley)
  set_target_properties(parley_parley PROPERTIES EXPORT_NAME parley VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(parley_parley INTERFACE ${rooms})
  file(GLOB headers CONFIGURE_DEPENDS "${PARLEY_ROOT}/include/parley/*.h")
  target_sources(parley_parley INTERFACE
    FILE_SET HEADERS BASE_DIRS "${PARLEY_ROOT}/include" FILES ${headers})
endfunction()
