// Policies: what the stations ask. Until RBAC, fairness and the rest have landed, openPolicies is the one explicit
// switch that lets authenticated requests pass.
import { defaultAdmissionPlugins } from './admission/plugins.ts'
import type { AdmissionPlugin } from './admission/plugin.ts'
import type { ApiRequest, Credentials, User } from './request.ts'

export type Decision = { readonly kind: 'allowed' } | { readonly kind: 'denied'; readonly why: string }

export interface Policies {
  /** The user behind the credentials; undefined when they prove nothing. */
  authenticate(credentials: Credentials): User | undefined
  /** Whether a request without a user may pass all the same. */
  allowsAnonymous(request: ApiRequest): boolean
  authorize(user: User, request: ApiRequest): Decision
  /** Waits for the request's turn; returns how to end it. */
  takeSeat(request: ApiRequest): Promise<() => void>
  readonly admission: readonly AdmissionPlugin[]
}

const anonymousPaths = /^\/(healthz|livez|readyz|version)(\/|$)/

export const openPolicies: Policies = {
  authenticate(credentials) {
    switch (credentials.kind) {
      case 'asserted':
        return credentials.user
      case 'certificate':
        return { name: credentials.commonName, groups: [...credentials.organizations, 'system:authenticated'] }
      case 'bearer':
      case 'none':
        return undefined
      default:
        return credentials satisfies never
    }
  },
  allowsAnonymous: ({ target }) => target.kind === 'path' && anonymousPaths.test(target.path),
  authorize: () => ({ kind: 'allowed' }),
  takeSeat: () => Promise.resolve(() => {}),
  admission: defaultAdmissionPlugins,
}
