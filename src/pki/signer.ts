// CertificateSigner: what may make certificates of requests. Whoever holds one signs; the key stays with the authority.
import type { AskedCertificate } from './read-request.ts'

export interface CertificateSigner {
  /** The certificate as PEM, good for so long at most. Throws when the authority itself is not good any more. */
  sign(asked: AskedCertificate, usages: readonly string[], lifeMs: number): string
  /** Whether who sends a request (PEM) holds the key that the certificate would be for. */
  isSignedByItsKey(request: string): boolean
}
