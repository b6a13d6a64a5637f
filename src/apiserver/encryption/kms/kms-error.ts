// KmsError: a value cannot be encrypted or decrypted because of a KMS plugin. Clients see its message, which names the
// provider and contains nothing of the plugin's response.
export class KmsError extends Error {
  override name = 'KmsError'
}
