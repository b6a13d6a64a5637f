// RegistryError: an error of the registry, with a status and a code of the OCI distribution specification.

export type RegistryErrorCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DENIED'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_INVALID'
  | 'NAME_UNKNOWN'
  | 'SIZE_INVALID'
  | 'TOOMANYREQUESTS'
  | 'UNSUPPORTED'

export class RegistryError extends Error {
  override name = 'RegistryError'
  readonly status: number
  readonly code: RegistryErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: RegistryErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}
