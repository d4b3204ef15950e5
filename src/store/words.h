// What a search finds: one meaning of words for every backend.
//
// A text becomes tokens: runs of letters and digits, in the compatibility form of Unicode without case. A run
// of characters of a script without spaces becomes its pairs and its last character: the three characters
// ABC of Chinese are "AB BC C". A word that is searched for is a phrase: tokens that follow each other.
//
// Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parley::store {

// The tokens of a text, with one space before, between and after them; " " without tokens. Only the first
// megabyte of a text is used. REQUIRES: valid UTF-8.
std::string indexed_words(std::string_view text);

// The phrases of a search, each its tokens with one space between them. One that ends with '*' is the
// beginning of a token: a single character of a script without spaces.
std::vector<std::string> phrases_of(std::string_view words);

// True if what indexed_words() gave has the phrase; all of them.
bool has_phrase(std::string_view indexed, std::string_view phrase);
bool has_phrases(std::string_view indexed, const std::vector<std::string>& phrases);

// The line of a text in which a phrase is found first, short enough to be shown.
std::string excerpt(std::string_view text, const std::vector<std::string>& phrases);

// The first line that says something, short enough to be shown.
std::string title_of(std::string_view text);

}  // namespace parley::store
