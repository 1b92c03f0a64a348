// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/base64.hpp"

#include <algorithm>

#include <openssl/evp.h>

namespace sluice::http {

std::string base64_encode(Bytes bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a terminating zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                                   narrow<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::optional<ByteVector> base64_decode(std::string_view text) {
  // OpenSSL skips blanks and takes padding anywhere in the last group, so the shape is checked here.
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.size() % 4 != 0 || text.size() > (1u << 30)) return std::nullopt;
  const auto in_alphabet = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  };
  if (!std::ranges::all_of(text.substr(0, text.size() - padding), in_alphabet)) return std::nullopt;
  ByteVector out(text.size() / 4 * 3);
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

}  // namespace sluice::http
