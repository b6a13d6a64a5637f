// Client certificates: the common name is the user, the organizations are the groups.
import type { Clock } from '../../base/time/clock.ts'
import type { ClientCertificate } from '../../platform/http/listener.ts'
import type { CredentialMetrics } from '../metrics/credential-metrics.ts'
import type { User } from '../request/request.ts'
import { authenticated, rejected, unknown, type Authentication, type Authenticator } from './authenticator.ts'
import { credentialIdKey } from './credential-id.ts'

export const certificateUser = ({ commonName, organizations, fingerprint }: ClientCertificate): User => ({
  name: commonName,
  uid: '',
  groups: organizations,
  extra: { [credentialIdKey]: [`X509SHA256=${fingerprint}`] },
})

/**
 * As upstream, an invalid certificate gets 401 even if anonymous requests are allowed. That of a front proxy is no valid one of
 * a user, so it gets 401 unless the proxy names a user.
 */
const invalid = rejected('the client certificate is not valid')

export interface CertificateMeasures {
  readonly clock: Clock
  readonly metrics: CredentialMetrics
}

export function clientCertificates(
  audiences: readonly string[],
  { clock, metrics }: CertificateMeasures,
): Authenticator {
  // All requests of a connection share one user object, so that values cached by user are found.
  const cached = new WeakMap<ClientCertificate, Authentication>()
  return {
    name: 'certificates',
    authenticate({ certificate }) {
      if (certificate === undefined) return unknown
      metrics.certificateUsed((certificate.validToMs - clock.nowMs()) / 1000)
      if (!certificate.trustedFor.includes('users')) return invalid
      if (certificate.commonName === '') return unknown
      let answer = cached.get(certificate)
      if (answer === undefined) {
        answer = authenticated(certificateUser(certificate), audiences)
        cached.set(certificate, answer)
      }
      return answer
    },
  }
}
