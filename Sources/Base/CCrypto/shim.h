// Keys and signatures by OpenSSL's libcrypto: a table of its functions that is filled when the first key is used.
//
// The library is not linked, and its headers are not needed: what is used of it is declared here, as the manual of
// OpenSSL 3.0 has it, which promises that it stays so for as long as the file's name does.
#pragma once
#include "wiping.h"

typedef struct evp_pkey_st EVP_PKEY;

#define CCRYPTO_FUNCTIONS(X) \
  X(EVP_PKEY *, d2i_AutoPrivateKey, (EVP_PKEY **, const unsigned char **, long)) \
  X(EVP_PKEY *, d2i_PUBKEY, (EVP_PKEY **, const unsigned char **, long)) \
  X(int, i2d_PrivateKey, (const EVP_PKEY *, unsigned char **)) \
  X(EVP_PKEY *, EVP_PKEY_Q_keygen, (void *, const char *, const char *, ...)) \
  X(void, EVP_PKEY_free, (EVP_PKEY *)) \
  X(int, EVP_PKEY_is_a, (const EVP_PKEY *, const char *)) \
  X(int, EVP_PKEY_get_bits, (const EVP_PKEY *)) \
  X(int, EVP_PKEY_get_group_name, (const EVP_PKEY *, char *, size_t, size_t *)) \
  X(int, EVP_PKEY_get_bn_param, (const EVP_PKEY *, const char *, void **)) \
  X(int, BN_num_bits, (const void *)) \
  X(int, BN_bn2binpad, (const void *, unsigned char *, int)) \
  X(void, BN_clear_free, (void *)) \
  X(void *, EVP_MD_CTX_new, (void)) \
  X(void, EVP_MD_CTX_free, (void *)) \
  X(const void *, EVP_sha256, (void)) \
  X(int, EVP_DigestSignInit, (void *, void *, const void *, void *, EVP_PKEY *)) \
  X(int, EVP_DigestSign, (void *, unsigned char *, size_t *, const unsigned char *, size_t)) \
  X(int, EVP_DigestVerifyInit, (void *, void *, const void *, void *, EVP_PKEY *)) \
  X(int, EVP_DigestVerify, (void *, const unsigned char *, size_t, const unsigned char *, size_t)) \
  X(void, ERR_clear_error, (void))

#define CCRYPTO_MEMBER(result, name, parameters) result(*name) parameters;
typedef struct ccrypto_library { CCRYPTO_FUNCTIONS(CCRYPTO_MEMBER) } ccrypto_library;

// Not thread-safe: the caller calls it once at a time. The library stays loaded for the life of the process. 1 if it has
// every function.
static inline int ccrypto_load(const char *path, ccrypto_library *library) {
  void *image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!image) return 0;
  wiping_tls_memory(image);
#define CCRYPTO_FIND(result, name, parameters) \
  if (!(library->name = (result(*) parameters)dlsym(image, #name))) return 0;
  CCRYPTO_FUNCTIONS(CCRYPTO_FIND)
  return 1;
}

// What is left behind here would be found by who asks the thread's next TLS connection what went wrong with it.
static inline int ccrypto_finished(const ccrypto_library *l, int result) {
  l->ERR_clear_error();
  return result;
}
static inline void ccrypto_free(const ccrypto_library *l, EVP_PKEY *key) { l->EVP_PKEY_free(key); }

// A key in DER, and nothing behind it: a private key (PKCS #8, PKCS #1 or SEC 1), or a SubjectPublicKeyInfo.
static inline EVP_PKEY *ccrypto_read(const ccrypto_library *l, int is_private, const unsigned char *der, long size) {
  const unsigned char *end = der;
  EVP_PKEY *key = is_private ? l->d2i_AutoPrivateKey(NULL, &end, size) : l->d2i_PUBKEY(NULL, &end, size);
  if (key && end != der + size) {
    l->EVP_PKEY_free(key);
    key = NULL;
  }
  ccrypto_finished(l, 0);
  return key;
}

static inline EVP_PKEY *ccrypto_make_p256(const ccrypto_library *l) {
  EVP_PKEY *key = l->EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
  ccrypto_finished(l, 0);
  return key;
}

// Writes a private key as DER into memory of `room` bytes, and returns how many it needs; 0 or less if it has no such form.
static inline int ccrypto_write(const ccrypto_library *l, const EVP_PKEY *key, unsigned char *der, int room) {
  int size = l->i2d_PrivateKey(key, NULL);
  if (size > 0 && size <= room) size = l->i2d_PrivateKey(key, &der);
  return ccrypto_finished(l, size);
}

enum { CCRYPTO_OTHER = 0, CCRYPTO_RSA = 1, CCRYPTO_P256 = 2, CCRYPTO_OTHER_CURVE = 3 };
static inline int ccrypto_kind(const ccrypto_library *l, const EVP_PKEY *key) {
  char curve[32] = "";
  size_t size = 0;
  if (l->EVP_PKEY_is_a(key, "RSA")) return CCRYPTO_RSA;
  if (!l->EVP_PKEY_is_a(key, "EC")) return CCRYPTO_OTHER;
  int has_name = l->EVP_PKEY_get_group_name(key, curve, sizeof curve, &size);
  return ccrypto_finished(l, has_name == 1 && !strcmp(curve, "prime256v1") ? CCRYPTO_P256 : CCRYPTO_OTHER_CURVE);
}
static inline int ccrypto_bits(const ccrypto_library *l, const EVP_PKEY *key) { return l->EVP_PKEY_get_bits(key); }

// Writes a number of a public key, big-endian and without leading zeros, and returns how many bytes it has; 0 if there is
// none, or no room for it.
static inline int ccrypto_number(const ccrypto_library *l, const EVP_PKEY *key, const char *name, unsigned char *bytes,
                                 int room) {
  void *number = NULL;
  if (l->EVP_PKEY_get_bn_param(key, name, &number) != 1) return ccrypto_finished(l, 0);
  int size = (l->BN_num_bits(number) + 7) / 8;
  if (size > room || l->BN_bn2binpad(number, bytes, size) != size) size = 0;
  l->BN_clear_free(number);
  return ccrypto_finished(l, size);
}

// Writes the signature of the message's SHA-256 (ECDSA in DER, or RSA's with the padding of PKCS #1 1.5), and returns how
// many bytes it has; 0 if there is no memory, or no room for it.
static inline size_t ccrypto_sign(const ccrypto_library *l, EVP_PKEY *key, const unsigned char *message, size_t count,
                                  unsigned char *signature, size_t room) {
  void *context = l->EVP_MD_CTX_new();
  int is_signed = context && l->EVP_DigestSignInit(context, NULL, l->EVP_sha256(), NULL, key) == 1 &&
                  l->EVP_DigestSign(context, signature, &room, message, count) == 1;
  l->EVP_MD_CTX_free(context);
  return ccrypto_finished(l, is_signed) ? room : 0;
}
static inline int ccrypto_verify(const ccrypto_library *l, EVP_PKEY *key, const unsigned char *message, size_t count,
                                 const unsigned char *signature, size_t size) {
  void *context = l->EVP_MD_CTX_new();
  int is_valid = context && l->EVP_DigestVerifyInit(context, NULL, l->EVP_sha256(), NULL, key) == 1 &&
                 l->EVP_DigestVerify(context, signature, size, message, count) == 1;
  l->EVP_MD_CTX_free(context);
  return ccrypto_finished(l, is_valid);
}
