// Conversion between records and rows: large media are taken out of a body and put back, and a checksum
// detects changes.
//
// Media are found without knowing any format: as runs of characters of base64 that are too long to be
// words. So an image that every turn repeats is one medium, and every byte comes back.
//
// Pure functions but for the time of a record that has none; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parley/base/error.h"
#include "parley/store/backend.h"

namespace parley::store {

inline constexpr std::size_t kLeastMediumBytes = 4096;

Row to_row(const Record& record);
RowBatch to_rows(const Batch& batch);

// Fails with Damaged if the row is not what to_row() made.
Result<StoredRecord> to_record(Row row);

// Of everything a row holds but its position, its batch and its time: a batch that is tried again has the
// same one.
std::uint64_t checksum_of(const Row& row);

}  // namespace parley::store
