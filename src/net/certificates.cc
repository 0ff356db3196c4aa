#include "net/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <memory>

#include "base/time.h"
#include "base/types.h"

namespace spotter::net {
namespace {

constexpr long kDaySeconds = kDay / kSecond;
constexpr long kAuthorityDays = 3650, kDays = 1825;
constexpr long kBackdated = kDaySeconds;  // for hosts whose clocks are behind
constexpr size_t kMostName = 64;          // ub-common-name of RFC 5280

template <auto free>
struct Free {
  template <class T>
  void operator()(T* p) const {
    free(p);
  }
};
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, Free<BIO_free_all>>;

tl::unexpected<Error> openssl_error(std::string_view what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return fail(Code::internal, "{}: {}", what, text.data());
}

template <class F>
std::string pem(F write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (!write(bio.get())) return {};
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(length));
}

BioPtr reader(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool set_name(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const u8*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Letters, digits, '-', '.', '_' and one '*' in front: anything else would have a meaning in OpenSSL's text.
bool is_dns_name(std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  return !name.empty() && name.size() <= 253 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") ==
             name.npos;
}

Result<std::string> alternative_names(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  for (const std::string& name : names) {
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(name, error);
    if (error && !is_dns_name(name))
      return fail(Code::invalid, "\"{}\" is neither a host name nor an IP address", name);
    words.push_back(error ? "DNS:" + name : "IP:" + address.to_string());
  }
  return fmt::format("{}", fmt::join(words, ","));
}

// A certificate with a fresh key, for all but its extensions and signature.
struct Draft {
  X509Ptr certificate;
  KeyPtr key;
};

Result<Draft> draft(const std::string& name, long days) {
  if (name.empty() || name.size() > kMostName)
    return fail(Code::invalid, "the name \"{}\" must have 1 to {} bytes", name, kMostName);
  Draft d{X509Ptr(X509_new()), KeyPtr(EVP_EC_gen("P-256"))};
  std::array<u8, 16> serial{};
  if (!d.certificate || !d.key || RAND_bytes(serial.data(), serial.size()) != 1)
    return openssl_error("no key could be made");
  serial[0] &= 0x7f;  // positive
  X509* c = d.certificate.get();
  const std::unique_ptr<BIGNUM, Free<BN_free>> number(BN_bin2bn(serial.data(), serial.size(), nullptr));
  const bool ok = X509_set_version(c, X509_VERSION_3) == 1 &&
                  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(c)) &&
                  X509_gmtime_adj(X509_getm_notBefore(c), -kBackdated) &&
                  X509_gmtime_adj(X509_getm_notAfter(c), days * kDaySeconds) &&
                  X509_set_pubkey(c, d.key.get()) == 1 && set_name(X509_get_subject_name(c), name);
  if (!ok) return openssl_error("no certificate could be made");
  return d;
}

Result<Certificate> signed_by(EVP_PKEY* key, const Draft& draft) {
  if (X509_sign(draft.certificate.get(), key, EVP_sha256()) == 0)
    return openssl_error("the certificate could not be signed");
  return Certificate{pem([&](BIO* bio) { return PEM_write_bio_X509(bio, draft.certificate.get()) == 1; }),
                     pem([&](BIO* bio) {
                       return PEM_write_bio_PrivateKey(bio, draft.key.get(), nullptr, nullptr, 0, nullptr,
                                                       nullptr) == 1;
                     })};
}

}  // namespace

Result<Certificate> make_authority(const std::string& name) {
  TRY_ASSIGN(const Draft d, draft(name, kAuthorityDays));
  X509* c = d.certificate.get();
  const bool ok = X509_set_issuer_name(c, X509_get_subject_name(c)) == 1 &&
                  add_extension(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                  add_extension(c, c, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                  add_extension(c, c, NID_subject_key_identifier, "hash");
  if (!ok) return openssl_error("no authority could be made");
  return signed_by(d.key.get(), d);
}

Result<Certificate> issue(const Certificate& authority, const Subject& subject) {
  const X509Ptr issuer(PEM_read_bio_X509(reader(authority.certificate).get(), nullptr, nullptr, nullptr));
  const KeyPtr key(PEM_read_bio_PrivateKey(reader(authority.key).get(), nullptr, nullptr, nullptr));
  if (!issuer || !key || X509_check_private_key(issuer.get(), key.get()) != 1) {
    ERR_clear_error();
    return fail(Code::invalid, "the authority's certificate and key do not belong together");
  }
  TRY_ASSIGN(const Draft d, draft(subject.name, kDays));
  TRY_ASSIGN(const std::string names, alternative_names(subject.names));
  X509* c = d.certificate.get();
  const bool ok =
      X509_set_issuer_name(c, X509_get_subject_name(issuer.get())) == 1 &&
      add_extension(c, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
      add_extension(c, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
      add_extension(c, issuer.get(), NID_ext_key_usage, subject.is_server ? "serverAuth" : "clientAuth") &&
      add_extension(c, issuer.get(), NID_subject_key_identifier, "hash") &&
      add_extension(c, issuer.get(), NID_authority_key_identifier, "keyid:always") &&
      (names.empty() || add_extension(c, issuer.get(), NID_subject_alt_name, names));
  if (!ok) return openssl_error("no certificate could be made");
  return signed_by(key.get(), d);
}

}  // namespace spotter::net
