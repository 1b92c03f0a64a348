# SPDX-License-Identifier: Apache-2.0
# Inside the tree the SDK's targets and functions are there already.
