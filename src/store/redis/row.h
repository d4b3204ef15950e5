// Rows as the fields of a stream's entry:
//
//   m  everything but the body and the text, as fields
//   b  the body without its media
//   t  the text
//   n  how many bytes the body has with its media
//
// fields = ( length ":" bytes )*, so that any bytes can be in them.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/store/backend.h"

namespace parley::store {

std::string pack_fields(std::span<const std::string> fields);
std::optional<std::vector<std::string>> unpack_fields(std::string_view packed);

// The field `m`: kind, dialect, message id, role, name, time, checksum, batch, and for each medium its offset
// and its hash.
std::string pack_row(const Row& row, std::string_view batch);
// The row whose fields these are; its media have no bytes yet. One that pack_row() did not make gets a
// checksum that is wrong, so that a reader learns which record is damaged (P6).
Row unpack_row(Position position, std::string_view packed, std::string body, std::string text);

std::size_t body_bytes(const Row& row);  // with its media

}  // namespace parley::store
