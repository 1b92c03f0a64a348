// SPDX-License-Identifier: Apache-2.0
// Plugins that never come to life: each gets its own sentence, and this process, which stands for the daemon, goes on.
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>

#include <fmt/format.h>
#include <sluice/abi/version.h>

#include "tests/abi/broken/broken_fixture.hpp"

namespace sluice::plugin {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(BrokenPlugin, HealthyOneIsDescribedAndLoaded) {
  install("healthy");
  const auto inspected = catalog_->inspect("healthy");
  ASSERT_TRUE(inspected.has_value()) << inspected.error().to_string();
  EXPECT_EQ(inspected->id, "minimal");
  EXPECT_EQ(inspected->version, "1.0.0");
  ASSERT_EQ(inspected->connectors.size(), 2u);
  EXPECT_TRUE(inspected->connectors[0].is_sink);
  EXPECT_EQ(inspected->connectors[1].id, "minimal_source");
  EXPECT_EQ(inspected->connectors[1].config_schema_json, R"({"type":"object"})");
  EXPECT_NE(loaded("healthy"), nullptr);
}

TEST_F(BrokenPlugin, MissingFileNamesEveryPlaceSearched) {
  const Error error = load_error("nowhere");
  EXPECT_TRUE(error.is(Errc::kNotFound));
  EXPECT_GE(catalog_->places().size(), 4u);
  for (const auto& searched : catalog_->places()) EXPECT_THAT(error.message(), HasSubstr((searched / "nowhere.so").string()));
  EXPECT_THAT(error.message(), HasSubstr("/usr/lib/sluice/plugins/nowhere.so"));
}

TEST_F(BrokenPlugin, MissingPathNamesThatPathAlone) {
  const Error error = load_error("./some/where.so");
  EXPECT_TRUE(error.is(Errc::kNotFound));
  EXPECT_THAT(error.message(), HasSubstr("some/where.so"));
  EXPECT_THAT(error.message(), Not(HasSubstr("/usr/lib/sluice")));
}

TEST_F(BrokenPlugin, TextFileIsNotALibrary) {
  write(place("notes"), "This is not a plugin.\n");
  const Error error = load_error("notes");
  EXPECT_TRUE(error.is(Errc::kNotALibrary));
  EXPECT_THAT(error.message(), HasSubstr("is not a shared library"));
}

TEST_F(BrokenPlugin, FolderAndProgramAreNotLibraries) {
  std::filesystem::create_directory(place("folder"));
  EXPECT_TRUE(load_error("folder").is(Errc::kNotALibrary));
  std::string program = read(built("healthy"));
  program[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
  write(place("program"), program);
  EXPECT_THAT(load_error("program").message(), HasSubstr("another kind of ELF file"));
}

TEST_F(BrokenPlugin, OtherArchitectureNamesBoth) {
  std::string library = read(built("healthy"));
  const bool is_x86 = library[offsetof(Elf64_Ehdr, e_machine)] == EM_X86_64;
  library[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(is_x86 ? EM_AARCH64 : EM_X86_64);
  write(place("foreign"), library);
  const Error error = load_error("foreign");
  EXPECT_TRUE(error.is(Errc::kWrongArchitecture));
  EXPECT_THAT(error.message(), HasSubstr("x86-64"));
  EXPECT_THAT(error.message(), HasSubstr("aarch64"));
}

TEST_F(BrokenPlugin, OtherWordSizeIsAnotherArchitecture) {
  std::string library = read(built("healthy"));
  library[EI_CLASS] = ELFCLASS32;
  library[offsetof(Elf64_Ehdr, e_machine)] = EM_386;
  write(place("narrow"), library);
  EXPECT_THAT(load_error("narrow").message(), HasSubstr("was built for 32-bit x86"));
}

TEST_F(BrokenPlugin, FileCutShortAnywhereIsAnErrorAndNeverACrash) {
  const std::string library = read(built("healthy"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{17}, std::size_t{63}, std::size_t{64}, library.size() / 3, library.size() - 1}) {
    write(place("cut"), library.substr(0, size));
    const auto described = catalog_->inspect("cut");
    ASSERT_FALSE(described.has_value()) << "cut after " << size;
    EXPECT_FALSE(described.error().message().empty());
  }
}

TEST_F(BrokenPlugin, MissingNeededLibraryIsNamed) {
  const Error error = installed_error("missing_library");
  EXPECT_TRUE(error.is(Errc::kMissingLibrary)) << error.to_string();
  EXPECT_THAT(error.message(), HasSubstr("needs the library 'libsluice_test_dependency.so'"));
}

TEST_F(BrokenPlugin, LibraryWithoutEntrySymbolIsNotAPlugin) {
  const Error error = installed_error("no_entry_symbol");
  EXPECT_TRUE(error.is(Errc::kNoEntrySymbol));
  EXPECT_THAT(error.message(), HasSubstr("does not export sluice_entry_v1"));
}

TEST_F(BrokenPlugin, LaterMajorIsTooNew) {
  const Error error = installed_error("next_major");
  EXPECT_TRUE(error.is(Errc::kTooNew));
  EXPECT_THAT(error.message(), HasSubstr("built for major 2 of the plugin interface, this Sluice has major 1"));
}

TEST_F(BrokenPlugin, LaterMinorIsTooNew) {
  const Error error = installed_error("too_new");
  EXPECT_TRUE(error.is(Errc::kTooNew));
  EXPECT_THAT(error.message(), HasSubstr(fmt::format("needs minor {}", SLUICE_ABI_MINOR + 7)));
}

TEST_F(BrokenPlugin, ShorterEntryIsTooOld) {
  const Error error = installed_error("too_old");
  EXPECT_TRUE(error.is(Errc::kTooOld));
  EXPECT_THAT(error.message(), HasSubstr("was built with an older plugin interface"));
}

TEST_F(BrokenPlugin, OtherDraftIsABuildMismatchWithBothIds) {
  const Error error = installed_error("other_build");
  EXPECT_TRUE(error.is(Errc::kBuildMismatch));
  EXPECT_THAT(error.message(), HasSubstr("draft.0"));
  EXPECT_THAT(error.message(), HasSubstr(SLUICE_ABI_BUILD_ID));
}

TEST_F(BrokenPlugin, RefusalOfTheEntryIsPassedOnInCleanText) {
  const Error error = installed_error("refuses");
  EXPECT_TRUE(error.is(Errc::kEntryRefused));
  EXPECT_THAT(error.message(), HasSubstr("refuses to start: the licence \\x1b[31mexpired\\n"));
}

TEST_F(BrokenPlugin, ThrowingStaticInitialiserIsReportedWithItsText) {
  const Error error = installed_error("throws_while_loading");
  // Depending on the compiler's start-up code the exception reaches the loader, or ends the probe.
  EXPECT_TRUE(error.is(Errc::kLoadFailed) || error.is(Errc::kProbeCrashed)) << error.to_string();
  EXPECT_THAT(error.message(), HasSubstr("no configuration in my static initialiser"));
}

TEST_F(BrokenPlugin, AbortingStaticInitialiserIsReportedWithSignalAndLastWords) {
  const Error error = installed_error("aborts_while_loading");
  EXPECT_TRUE(error.is(Errc::kProbeCrashed));
  EXPECT_THAT(error.message(), AllOf(HasSubstr("the process that inspected "), HasSubstr(" was killed by SIGABRT")));
  EXPECT_THAT(error.message(), HasSubstr("the moon is full"));
}

TEST_F(BrokenPlugin, ExitingStaticInitialiserIsReportedThoughItsExitCodeIsZero) {
  const Error error = installed_error("exits_while_loading");
  EXPECT_TRUE(error.is(Errc::kProbeCrashed));
  EXPECT_THAT(error.message(), AllOf(HasSubstr("the process that inspected "), HasSubstr(" ended with exit code 0")));
}

TEST_F(BrokenPlugin, HangingStaticInitialiserIsReportedAfterTheTimeLimit) {
  PluginCatalog::Options impatient = options();
  impatient.probe_timeout = std::chrono::milliseconds(200);
  catalog_ = std::make_unique<PluginCatalog>(impatient);
  const Error error = installed_error("hangs_while_loading");
  EXPECT_TRUE(error.is(Errc::kProbeTimeout));
  EXPECT_THAT(error.message(), HasSubstr("did not finish loading within 200 ms"));
}

TEST_F(BrokenPlugin, OutputOfAPluginDoesNotReachTheAnswerOfTheProbe) {
  install("prints_while_loading");
  const auto described = catalog_->inspect("prints_while_loading");
  ASSERT_TRUE(described.has_value()) << described.error().to_string();
}

TEST_F(BrokenPlugin, OtherSanitizerIsNamed) {
  const Error error = installed_error("other_sanitizer");
  EXPECT_TRUE(error.is(Errc::kSanitizerMismatch));
  EXPECT_THAT(error.message(), HasSubstr(std::string_view(SLUICE_OTHER_SANITIZER) == "thread" ? "built with ThreadSanitizer"
                                                                                              : "built with AddressSanitizer"));
}

TEST_F(BrokenPlugin, PluginWithoutSanitizerIsTakenByABuildWithoutOneOnly) {
  install("no_sanitizer");
  const auto described = catalog_->inspect("no_sanitizer");
  if (std::string_view(SLUICE_ABI_SANITIZER_TAG).empty()) {
    EXPECT_TRUE(described.has_value()) << described.error().to_string();
  } else {
    ASSERT_FALSE(described.has_value());
    EXPECT_TRUE(described.error().is(Errc::kSanitizerMismatch));
    EXPECT_THAT(described.error().message(), HasSubstr("was built with no sanitizer"));
  }
}

TEST_F(BrokenPlugin, SymbolThatNobodyDefinesIsNamed) {
  const Error error = installed_error("undefined_symbol");
  EXPECT_TRUE(error.is(Errc::kLoadFailed));
  EXPECT_THAT(error.message(), HasSubstr("sluice_test_nobody_defines_this"));
}

TEST_F(BrokenPlugin, MalformedDescriptorsAreNamed) {
  EXPECT_THAT(installed_error("bad_schema").message(),
              HasSubstr("connector 'minimal_sink': its configuration schema is not a JSON object"));
  EXPECT_THAT(installed_error("bad_id").message(), HasSubstr("connector '../sink': its id is not"));
}

TEST_F(BrokenPlugin, ConnectorThatNeedsAnExtensionIsRefusedByNameAndTheOtherOneIsNot) {
  const auto plugin = loaded("needs_extension");
  ASSERT_NE(plugin, nullptr);
  const auto sink = plugin->find(true, "");
  ASSERT_FALSE(sink.has_value());
  EXPECT_EQ(sink.error().code, "plugin.unsupported_extension");
  EXPECT_THAT(sink.error().text, HasSubstr("needs the extension 'sluice.splits/1'"));
  EXPECT_TRUE(plugin->find(false, "minimal_source").has_value());
}

TEST_F(BrokenPlugin, ConnectorWithAnUnknownPromiseIsRefused) {
  const auto plugin = loaded("unknown_capability");
  ASSERT_NE(plugin, nullptr);
  EXPECT_THAT(plugin->find(true, "").error().text, HasSubstr("capabilities that this Sluice does not know (0x10000000000)"));
}

TEST_F(BrokenPlugin, UnknownConnectorListsWhatThereIs) {
  const auto plugin = loaded("healthy");
  ASSERT_NE(plugin, nullptr);
  EXPECT_THAT(plugin->find(true, "minimal_sick").error().text, HasSubstr("has no sink named 'minimal_sick'; it has minimal_sink"));
}

TEST_F(BrokenPlugin, FileThatOthersCanWriteIsRefused) {
  install("healthy");
  std::filesystem::permissions(place("healthy"), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  const Error error = load_error("healthy");
  EXPECT_TRUE(error.is(Errc::kWritableByOthers));
  EXPECT_THAT(error.message(), HasSubstr("every user can change it"));
}

TEST_F(BrokenPlugin, FileInAFolderThatIsOpenToAllIsRefused) {
  install("healthy");
  std::filesystem::permissions(folder_ / "plugins", std::filesystem::perms::all);
  EXPECT_THAT(load_error("healthy").message(), HasSubstr("every user can replace it"));
}

TEST_F(BrokenPlugin, MissingProbeProgramIsNotThePluginsFault) {
  PluginCatalog::Options without = options();
  without.probe_program = folder_ / "no-such-program";
  catalog_ = std::make_unique<PluginCatalog>(without);
  EXPECT_THAT(installed_error("healthy").message(), HasSubstr("was not inspected: starting"));
}

TEST_F(BrokenPlugin, ListGivesEveryFileItsDescriptionOrItsError) {
  for (const char* name : {"healthy", "too_new", "aborts_while_loading"}) install(name);
  write(place("notes"), "text");
  std::size_t good = 0;
  std::size_t bad = 0;
  for (const auto& [file, described] : catalog_->list()) {
    if (file.parent_path() != folder_ / "plugins") continue;
    described ? ++good : ++bad;
    EXPECT_EQ(described.has_value(), file.stem() == "healthy") << file;
  }
  EXPECT_EQ(good, 1u);
  EXPECT_EQ(bad, 3u);
}

TEST_F(BrokenPlugin, CopyIsPrivate) {
  ASSERT_NE(loaded("healthy"), nullptr);
  std::size_t copies = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "copies")) {
    EXPECT_EQ(std::filesystem::status(entry).permissions() & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none)
        << entry.path();
    copies += entry.is_regular_file();
  }
  EXPECT_EQ(copies, 1u);
}

}  // namespace sluice::plugin
