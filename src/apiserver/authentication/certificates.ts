// Client certificates: the common name is the user, the organizations are the groups.
import type { ClientCertificate } from '../../platform/listener.ts'
import type { User } from '../request.ts'
import { authenticated, unknown, type Authenticator } from './authenticator.ts'
import { credentialIdKey } from './credential-id.ts'

export const certificateUser = ({ commonName, organizations, fingerprint }: ClientCertificate): User => ({
  name: commonName,
  uid: '',
  groups: organizations,
  extra: { [credentialIdKey]: [`X509SHA256=${fingerprint}`] },
})

export const certificates = (audiences: readonly string[]): Authenticator => ({
  name: 'certificates',
  authenticate: ({ certificate }) =>
    certificate?.authority === 'users' && certificate.commonName !== ''
      ? authenticated(certificateUser(certificate), audiences)
      : unknown,
})
