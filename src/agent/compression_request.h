// How a model is asked for a summary.
//
// A pure function; safe from any thread.
#pragma once

#include "parley/memory/compressor.h"
#include "parley/model/model.h"

namespace parley::agent {

ModelRequest compression_request(const CompressionRequest& request);

}  // namespace parley::agent
