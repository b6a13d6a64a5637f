// CertificateSigner: signs certificates without giving access to the key of the authority.
import type { RequestedCertificate } from './parse-certificate-request.ts'

export interface CertificateSigner {
  /** Returns a certificate as PEM, valid for at most `lifetimeMs`. Throws when the authority has expired. */
  sign(requested: RequestedCertificate, usages: readonly string[], lifetimeMs: number): string
  /** Whether a request (PEM) is signed with the key that it names. */
  verifyRequest(request: string): boolean
}
