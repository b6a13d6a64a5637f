// openPolicies: every holder of a client certificate may do everything. For tests of other parts of the server.
import { defaultAdmissionPlugins } from './admission/plugins.ts'
import { anonymousUser } from './authentication/anonymous.ts'
import { certificateUser } from './authentication/client-certificates.ts'
import { allowed } from './authorization/authorizer.ts'
import type { Policies } from './filters/policies.ts'
import { unlimitedSeats } from './request/request-slot.ts'

const healthPaths = /^\/(healthz|livez|readyz|version)(\/|$)/

export const openPolicies: Policies = {
  authenticate({ credentials, target }) {
    if (credentials.kind === 'asserted') return { kind: 'authenticated', user: credentials.user, audiences: [] }
    const { certificate } = credentials
    if (certificate !== undefined) return { kind: 'authenticated', user: certificateUser(certificate), audiences: [] }
    return target.kind === 'path' && healthPaths.test(target.path)
      ? { kind: 'authenticated', user: anonymousUser, audiences: [] }
      : { kind: 'unknown' }
  },
  authorize: () => allowed(),
  seatOf: () => unlimitedSeats,
  admission: defaultAdmissionPlugins,
  reviews: [],
  documents: {},
}
