// Authorizer: decides whether a user may do something. In a chain, the first authorizer with an opinion decides.
import type { PolicyRule } from '../../api/rbac/v1/policy-rule.ts'
import type { User } from '../request/request.ts'
import { isPrivileged, privilegedGroup } from '../request/user-names.ts'
import type { AccessAttributes } from './attributes.ts'

/** Reasons are functions, because most are never read. */
export type Decision =
  | { readonly kind: 'allowed'; reason(): string }
  /** The next authorizers are not called. */
  | { readonly kind: 'denied'; reason(): string }
  | { readonly kind: 'noOpinion'; reason(): string }

/** The rules that apply to a user in a namespace. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[]
  /** Whether there may be more rules. */
  readonly incomplete: boolean
  readonly errors: readonly string[]
}

export interface Authorizer {
  readonly name: string
  /** The rules of this authorizer for the user in the namespace, as far as it can enumerate them. */
  rulesFor(user: User, namespace: string): ResolvedRules
  /** Synchronous unless an external server must be called. */
  authorize(attributes: AccessAttributes, signal: AbortSignal): Decision | Promise<Decision>
}

export const allowed = (reason = ''): Decision => ({ kind: 'allowed', reason: () => reason })
export const denied = (reason = ''): Decision => ({ kind: 'denied', reason: () => reason })
export const noOpinion = (reason = ''): Decision => ({ kind: 'noOpinion', reason: () => reason })

/** Combines authorizers. The decision is synchronous as long as theirs are. */
export function authorizerChain(authorizers: readonly Authorizer[]): Authorizer {
  const ask = (
    index: number,
    attributes: AccessAttributes,
    signal: AbortSignal,
    before: readonly Decision[],
  ): Decision | Promise<Decision> => {
    for (let at = index; ; at++) {
      const authorizer = authorizers[at]
      if (authorizer === undefined) return joined(before)
      const answer = authorizer.authorize(attributes, signal)
      if (answer instanceof Promise)
        return answer.then((decision) =>
          decision.kind === 'noOpinion' ? ask(at + 1, attributes, signal, [...before, decision]) : decision,
        )
      if (answer.kind !== 'noOpinion') return answer
      before = [...before, answer]
    }
  }
  return {
    name: 'chain',
    authorize: (attributes, signal) => ask(0, attributes, signal, []),
    rulesFor(user, namespace) {
      const known = authorizers.map((authorizer) => authorizer.rulesFor(user, namespace))
      return {
        rules: known.flatMap(({ rules }) => rules),
        incomplete: known.some(({ incomplete }) => incomplete),
        errors: known.flatMap(({ errors }) => errors),
      }
    },
  }
}

const joined = (decisions: readonly Decision[]): Decision => ({
  kind: 'noOpinion',
  reason: () =>
    decisions
      .map((decision) => decision.reason())
      .filter((reason) => reason !== '')
      .join('\n'),
})

export const noRules: ResolvedRules = { rules: [], incomplete: false, errors: [] }

const everyRule: ResolvedRules = {
  ...noRules,
  rules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
}

export const alwaysAllow: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => allowed(),
  rulesFor: () => everyRule,
}

export const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => noOpinion('Everything is forbidden.'),
  rulesFor: () => noRules,
}

const byPrivilege = allowed(`the group ${privilegedGroup} may do everything`)
const noPrivilege = noOpinion()

export const privileged: Authorizer = {
  name: 'Privileged',
  authorize: ({ user }) => (isPrivileged(user.groups) ? byPrivilege : noPrivilege),
  // The default roles include these rules.
  rulesFor: () => noRules,
}
