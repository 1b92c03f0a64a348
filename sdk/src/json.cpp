// SPDX-License-Identifier: Apache-2.0
// Boost.JSON as a part of the SDK's own library: a plugin must not need a shared library for its configuration, nor export its symbols.
#include <boost/json/src.hpp>
