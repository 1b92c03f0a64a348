// SPDX-License-Identifier: Apache-2.0
#include <sluice/http_client.hpp>

#include <curl/curl.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <mutex>
#include <system_error>

#include <sluice/retry.hpp>

namespace sluice {
namespace {

constexpr std::uint64_t kDrainBytes = 1 << 20;  // read beyond max_body to keep the connection; more closes it
constexpr std::uint64_t kAnswerHeaderBytesMax = 1 << 18;
constexpr int kPollMs = 1000;  // a stop wakes it up at once; this is only the longest nap

bool start_curl_once() {
  static std::once_flag once;
  static CURLcode result = CURLE_OK;
  std::call_once(once, [] { result = curl_global_init(CURL_GLOBAL_DEFAULT); });
  return result == CURLE_OK;
}

// A list of header lines that curl reads during a transfer.
class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list_); }

  // A line break in name or value would smuggle in another header.
  [[nodiscard]] bool add(std::string_view name, std::string_view value) {
    constexpr std::string_view kForbidden("\r\n\0", 3);
    if (name.empty() || name.find_first_of(kForbidden) != name.npos || value.find_first_of(kForbidden) != value.npos) return false;
    line_.assign(name);
    // curl's way to send a header without a value.
    if (value.empty()) {
      line_ += ';';
    } else {
      line_.append(": ").append(value);
    }
    return add_line(line_.c_str());
  }
  [[nodiscard]] bool add_line(const char* line) {
    curl_slist* longer = curl_slist_append(list_, line);
    if (longer == nullptr) return false;
    list_ = longer;
    return true;
  }
  [[nodiscard]] curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
  std::string line_;
};

// Where the way to the server ended.
const char* hint_of(CURLcode code, int os_error) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "check the URL: http:// or https://, a host, a path";
    case CURLE_COULDNT_RESOLVE_HOST:
      return "check the host in the URL; if it is right, this machine's name server does not know it (getent hosts HOST)";
    case CURLE_COULDNT_CONNECT:
      return os_error == ECONNREFUSED ? "nothing listens there: check host and port in the URL, and that the server runs"
                                      : "check host and port in the URL, and the way from this machine to there";
    case CURLE_OPERATION_TIMEDOUT:
      return "check host and port in the URL, a firewall that drops packets, and whether the server hangs; if it is only slow, raise the "
             "timeouts";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "if the server is the right one, name the file of the authority that signed its certificate, or of a self-signed certificate "
             "itself, in ca_file; the URL must have the host that the certificate names";
    case CURLE_SSL_CACERT_BADFILE:
      return "ca_file must be a readable file of certificates in PEM";
    case CURLE_SSL_CONNECT_ERROR:
      return "check that the server speaks TLS at this port: http:// and https:// have different ones";
    default:
      return "check that the server is well, and that nothing between cuts connections";
  }
}

bool failed_before_sending(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return true;
    default:
      return false;
  }
}

}  // namespace

class HttpClient::Impl {
 public:
  Impl(HttpOptions options, std::stop_token stop) : options_(std::move(options)), stop_(std::move(stop)) {
    if (start_curl_once()) {
      easy_ = curl_easy_init();
      multi_ = curl_multi_init();
    }
    if (easy_ == nullptr || multi_ == nullptr) {
      release();
      throw ConnectorError("http.setup", "libcurl could not be set up", {.hint = "is the process out of memory or file descriptors?"});
    }
    set_once();
    wake_.emplace(stop_, Wake{multi_});
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    wake_.reset();  // waits for a wake-up that is under way
    release();
  }

  const HttpResult& perform(const HttpRequest& request) {
    result_.end = HttpEnd::kNotSent;
    result_.status = 0;
    result_.body.clear();
    result_.body_cut = false;
    result_.retry_after = Duration{0};
    result_.problem.clear();
    result_.hint.clear();
    answer_header_bytes_ = 0;
    if (stop_.stop_requested()) return cancelled();

    HeaderList headers;
    if (!set_request(request, headers)) return result_;
    const CURLcode code = run();
    if (code == CURLE_ABORTED_BY_CALLBACK) return cancelled();
    finish(code, request.body.size());
    return result_;
  }

 private:
  struct Wake {
    CURLM* multi;
    void operator()() const { curl_multi_wakeup(multi); }
  };

  const HttpResult& cancelled() {
    result_.end = HttpEnd::kCancelled;
    result_.problem = "cancelled";
    return result_;
  }

  void set_once() {
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // do not wait for a resolver thread that hangs
    curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");  // an empty one also switches off http_proxy and its kin in the environment
    curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!options_.ca_file.empty()) curl_easy_setopt(easy_, CURLOPT_CAINFO, options_.ca_file.c_str());
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, options_.user_agent.c_str());
    curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Impl::on_body);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Impl::on_header);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  }

  // False: the result says why it cannot be sent.
  bool set_request(const HttpRequest& request, HeaderList& headers) {
    const std::int64_t timeout_ms = remaining_ms(request.deadline_ns);
    if (timeout_ms <= 0) return refuse("the deadline had passed before the request was sent");
    curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
    curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(options_.connect_timeout.count(), 1)));

    bool ok = headers.add_line("Expect:");  // no waiting for 100 Continue
    for (const HttpHeader& header : request.headers) {
      if (!headers.add(header.name, header.value)) return refuse("header \"" + std::string(header.name) + "\" has a line break or no name");
    }
    const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (has_body) {
      ok = ok && headers_name_content_type(request, headers);
      curl_easy_setopt(easy_, CURLOPT_POST, 1L);
      // A null pointer would make curl read the body from standard input.
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    } else {
      curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(easy_, CURLOPT_NOBODY, request.method == "HEAD" ? 1L : 0L);
    url_.assign(request.url);
    method_.assign(request.method);
    if (curl_easy_setopt(easy_, CURLOPT_URL, url_.c_str()) != CURLE_OK) return refuse("the URL is too long");
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method_.c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers.get());
    return ok || refuse("out of memory");
  }

  // Without one curl would claim that the body is a web form.
  static bool headers_name_content_type(const HttpRequest& request, HeaderList& headers) {
    const auto is_content_type = [](const HttpHeader& header) {
      constexpr std::string_view kName = "content-type";
      return std::equal(header.name.begin(), header.name.end(), kName.begin(), kName.end(),
                        [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
    };
    return std::any_of(request.headers.begin(), request.headers.end(), is_content_type) || headers.add_line("Content-Type:");
  }

  bool refuse(std::string problem) {
    result_.problem = std::move(problem);
    return false;
  }

  [[nodiscard]] std::int64_t remaining_ms(std::uint64_t deadline_ns) const {
    constexpr std::int64_t kTimeoutMaxMs = std::numeric_limits<std::int32_t>::max();  // a long on every platform
    std::int64_t ms = std::clamp<std::int64_t>(options_.total_timeout.count(), 1, kTimeoutMaxMs);
    if (deadline_ns > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return ms;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto left = std::chrono::nanoseconds(static_cast<std::int64_t>(deadline_ns)) - now;
    return std::min(ms, std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
  }

  // CURLE_ABORTED_BY_CALLBACK stands for a stop: we have no callback that aborts.
  CURLcode run() {
    error_text_[0] = '\0';
    if (curl_multi_add_handle(multi_, easy_) != CURLM_OK) return CURLE_FAILED_INIT;
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    while (!stop_.stop_requested()) {
      int running = 0;
      if (curl_multi_perform(multi_, &running) != CURLM_OK) {
        code = CURLE_FAILED_INIT;
        break;
      }
      if (running == 0) {
        int left = 0;
        const CURLMsg* message = curl_multi_info_read(multi_, &left);
        code = message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
        break;
      }
      curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    }
    curl_multi_remove_handle(multi_, easy_);
    return code;
  }

  void finish(CURLcode code, std::size_t body_size) {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    // The body was cut by us, after the answer had come.
    if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && result_.body_cut)) {
      result_.end = HttpEnd::kAnswered;
      result_.status = static_cast<int>(status);
      curl_off_t retry_after_s = 0;
      curl_easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &retry_after_s);
      constexpr curl_off_t kYearS = 366L * 86'400;
      if (retry_after_s > 0) result_.retry_after = std::chrono::seconds(std::min(retry_after_s, kYearS));
      return;
    }
    long request_bytes = 0;  // headers, and what of the body went with them
    curl_off_t body_bytes = 0;
    curl_easy_getinfo(easy_, CURLINFO_REQUEST_SIZE, &request_bytes);
    curl_easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &body_bytes);
    result_.body.clear();
    if (failed_before_sending(code) || request_bytes == 0) {
      result_.end = HttpEnd::kNotSent;
    } else {
      result_.end = static_cast<std::size_t>(body_bytes) >= body_size ? HttpEnd::kBrokenAfterSending : HttpEnd::kBrokenWhileSending;
    }
    result_.problem = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(code);
    long os_error = 0;
    curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
    if (code == CURLE_COULDNT_CONNECT && os_error != 0) {
      result_.problem += ": " + std::generic_category().message(static_cast<int>(os_error));
    }
    result_.hint = hint_of(code, static_cast<int>(os_error));
  }

  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    HttpResult& result = static_cast<Impl*>(self)->result_;
    const std::size_t bytes = size * count;
    const std::size_t room = static_cast<Impl*>(self)->options_.max_body.bytes - result.body.size();
    try {
      result.body.append(data, std::min(bytes, room));
    } catch (...) {
      return CURL_WRITEFUNC_ERROR;
    }
    if (bytes <= room) return bytes;
    if (!result.body_cut) static_cast<Impl*>(self)->drained_bytes_ = 0;
    result.body_cut = true;
    static_cast<Impl*>(self)->drained_bytes_ += bytes - room;
    return static_cast<Impl*>(self)->drained_bytes_ > kDrainBytes ? CURL_WRITEFUNC_ERROR : bytes;
  }

  static std::size_t on_header(char* /*data*/, std::size_t size, std::size_t count, void* self) noexcept {
    std::uint64_t& total = static_cast<Impl*>(self)->answer_header_bytes_;
    total += size * count;
    return total > kAnswerHeaderBytesMax ? 0 : size * count;
  }

  void release() {
    if (easy_ != nullptr) curl_easy_cleanup(easy_);
    if (multi_ != nullptr) curl_multi_cleanup(multi_);
  }

  HttpOptions options_;
  std::stop_token stop_;
  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  std::optional<std::stop_callback<Wake>> wake_;
  HttpResult result_;
  std::string url_;
  std::string method_;
  std::uint64_t drained_bytes_ = 0;
  std::uint64_t answer_header_bytes_ = 0;
  char error_text_[CURL_ERROR_SIZE] = {};
};

HttpClient::HttpClient(HttpOptions options, std::stop_token stop) : impl_(std::make_unique<Impl>(std::move(options), std::move(stop))) {}
HttpClient::~HttpClient() = default;

const HttpResult& HttpClient::perform(const HttpRequest& request) {
  return impl_->perform(request);
}

}  // namespace sluice
