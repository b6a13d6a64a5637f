// KmsError: a value cannot be encrypted or decrypted because of a KMS plugin. Clients see its message: it names the
// provider, and nothing that the plugin answered.
export class KmsError extends Error {
  override name = 'KmsError'
}
