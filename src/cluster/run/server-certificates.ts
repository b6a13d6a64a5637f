// ServerCertificates: the certificates that a running server uses. They change when they are renewed, when its addresses change, and
// when the authorities are replaced.
import type { CertificateSigner } from '../../pki/certificate-signer.ts'
import type { ClusterCertificates } from '../certificates/cluster-certificates.ts'

export class ServerCertificates {
  #current: ClusterCertificates
  readonly #uses: ((fresh: ClusterCertificates) => Promise<void>)[] = []
  #last = Promise.resolve()

  constructor(first: ClusterCertificates) {
    this.#current = first
  }

  get current(): ClusterCertificates {
    return this.#current
  }

  /** Signs with the authority that is current at each call. */
  readonly signer: CertificateSigner = {
    sign: (...request) => this.#current.signer.sign(...request),
    verifyRequest: (request) => this.#current.signer.verifyRequest(request),
  }

  /** Called with all later certificates, one after the other, in the order of the registrations. */
  onChange(use: (fresh: ClusterCertificates) => Promise<void>): void {
    this.#uses.push(use)
  }

  /** Issues certificates and uses them. If a use fails, the next call repeats all of them. */
  async replace(issue: () => Promise<ClusterCertificates>): Promise<void> {
    const previous = this.#last
    const ended = Promise.withResolvers<void>()
    this.#last = ended.promise
    await previous
    try {
      const fresh = await issue()
      this.#current = fresh
      for (const use of this.#uses) await use(fresh)
    } finally {
      ended.resolve()
    }
  }
}
