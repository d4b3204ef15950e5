// What a model that sees no images is shown of a conversation that has some: a text in the place of each, so
// that no message vanishes, and a note. Pure.
#pragma once

#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/message/conversation.h"

namespace parley::model {

void replace_images(Conversation& conversation, std::vector<Note>& notes);

}  // namespace parley::model
