// The modes of impersonation: the permissions that each requires, and the user that it results in. Constrained modes require a
// permission for the action (`impersonate-on:<mode>:<verb>`) and for each attribute of the user (`impersonate:<mode>`); the
// unconstrained one requires only the latter (`impersonate`).
import { validateDomainPrefixedPath } from '../../api/validation/domain-prefixed-path.ts'
import type { StatusError } from '../../api/errors/status-error.ts'
import { attributesOf, resourceAttributes, type AccessAttributes } from '../authorization/attributes.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import type { ApiRequest, User } from '../request/request.ts'
import {
  anonymousUser,
  authenticatedGroup,
  privilegedGroup,
  serviceAccountGroups,
  serviceAccountOf,
} from '../request/user-names.ts'

export interface ImpersonationMode {
  /** The verb of the permission for the user, for audit events; undefined for the unconstrained mode. */
  readonly constraint: string | undefined
  /** In the order in which they are checked. An error rejects the mode without a check. */
  required(): Iterable<AccessAttributes | StatusError>
  readonly impersonated: User
}

const group = 'authentication.k8s.io'
const nodePrefix = 'system:node:'
const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** The modes that apply, in the order in which they are tried; the last one is unconstrained. */
export function impersonationModes(sender: User, requested: User, request: ApiRequest): ImpersonationMode[] {
  const constrained = (mode: string, impersonated: User, identity: Identity): ImpersonationMode => {
    const constraint = `impersonate:${mode}`
    return {
      constraint,
      impersonated,
      *required() {
        yield attributesOf(sender, request, `impersonate-on:${mode}:`)
        yield* identity(sender, constraint)
      },
    }
  }
  return [
    ...constrainedModes(sender, requested, constrained),
    {
      constraint: undefined,
      impersonated: withImpliedGroups(requested),
      required: () => unconstrainedIdentity(sender, requested),
    },
  ]
}

type Identity = (sender: User, verb: string) => Iterable<AccessAttributes | StatusError>

function constrainedModes(
  sender: User,
  requested: User,
  mode: (name: string, impersonated: User, identity: Identity) => ImpersonationMode,
): ImpersonationMode[] {
  const account = serviceAccountOf(requested.name)
  const node = requested.name.startsWith(nodePrefix) ? requested.name.slice(nodePrefix.length) : ''
  if (account === undefined && node === '')
    return [mode('user-info', withImpliedGroups(requested), (user, verb) => userIdentity(user, verb, requested))]
  if (!isNameOnly(requested)) return []
  if (account !== undefined) {
    const impersonated = withImpliedGroups(requested)
    return [mode('serviceaccount', impersonated, (user, verb) => [named(user, verb, 'serviceaccounts', account)])]
  }
  const impersonated = { ...requested, groups: ['system:nodes', authenticatedGroup] }
  const arbitrary = mode('arbitrary-node', impersonated, (user, verb) => [named(user, verb, 'nodes', { name: node })])
  const own = sender.extra[nodeNameKey]
  if (own?.length !== 1 || own[0] !== node) return [arbitrary]
  // The permission does not name the node: it is valid on whichever node the sender runs.
  return [mode('associated-node', impersonated, (user, verb) => [named(user, verb, 'nodes', { name: '*' })]), arbitrary]
}

const isNameOnly = ({ uid, groups, extra }: User): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

type Target = Parameters<typeof resourceAttributes>[2]

const named = (sender: User, verb: string, resource: string, target: Target): AccessAttributes =>
  resourceAttributes(sender, verb, { group, version: 'v1', resource, ...target })

function* userIdentity(
  sender: User,
  verb: string,
  { name, uid, groups, extra }: User,
): Generator<AccessAttributes | StatusError> {
  yield named(sender, verb, 'users', { name })
  if (uid !== '') yield named(sender, verb, 'uids', { name: uid })
  for (const each of groups) {
    const attributes = named(sender, verb, 'groups', { name: each })
    yield each === privilegedGroup
      ? forbiddenAccess(attributes, `impersonating the ${privilegedGroup} group is not allowed`)
      : attributes
  }
  for (const [key, values] of Object.entries(extra)) {
    const [error] = validateDomainPrefixedPath(key, 'extra.key')
    if (error !== undefined)
      yield forbiddenAccess(
        named(sender, verb, 'userextras', {}),
        `impersonating an invalid key in extra is not allowed: ${error.field}: ${error.message}`,
      )
    for (const value of values) yield named(sender, verb, 'userextras', { subresource: key, name: value })
  }
}

function* unconstrainedIdentity(sender: User, { name, uid, groups, extra }: User): Generator<AccessAttributes> {
  const attributes = (target: Target) => resourceAttributes(sender, 'impersonate', { version: 'v1', ...target })
  const account = serviceAccountOf(name)
  yield account === undefined
    ? attributes({ resource: 'users', name })
    : attributes({ resource: 'serviceaccounts', ...account })
  for (const each of groups) yield attributes({ resource: 'groups', name: each })
  if (uid !== '') yield attributes({ group, resource: 'uids', name: uid })
  for (const [key, values] of Object.entries(extra))
    for (const value of values) yield attributes({ group, resource: 'userextras', subresource: key, name: value })
}

function withImpliedGroups(user: User): User {
  const account = serviceAccountOf(user.name)
  const groups =
    user.groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : user.groups
  const known = user.name === anonymousUser ? 'system:unauthenticated' : authenticatedGroup
  const isKnown = groups.includes(known) || groups.includes('system:unauthenticated')
  return { ...user, groups: isKnown ? groups : [...groups, known] }
}
