// CertificateSigner: what may make certificates of requests. Whoever holds one signs; the key stays with the authority.
import type { RequestedCertificate } from './parse-certificate-request.ts'

export interface CertificateSigner {
  /** The certificate as PEM, good for so long at most. Throws when the authority itself is not good any more. */
  sign(requested: RequestedCertificate, usages: readonly string[], lifetimeMs: number): string
  /** Whether who sends a request (PEM) holds the key that the certificate would be for. */
  verifyRequest(request: string): boolean
}
