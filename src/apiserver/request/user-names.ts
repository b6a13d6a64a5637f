// Names of well-known users and groups: ServiceAccounts, authenticated users, administrators.
import type { User } from './request.ts'

const prefix = 'system:serviceaccount:'
const everyAccount = 'system:serviceaccounts'

export const serviceAccountUser = (namespace: string, name: string): string => `${prefix}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): readonly string[] => [
  everyAccount,
  `${everyAccount}:${namespace}`,
]

/** The ServiceAccount of a user name; undefined for other users. */
export function serviceAccountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(prefix)) return undefined
  const [namespace = '', name = '', ...more] = userName.slice(prefix.length).split(':')
  return namespace === '' || name === '' || more.length > 0 ? undefined : { namespace, name }
}

/**
 * The name that limits of one user apply to. A user who may create ServiceAccounts has as many names as needed, so all
 * ServiceAccounts of a namespace are one owner.
 */
export function ownerOf({ name }: User): string {
  const account = serviceAccountOf(name)
  return account === undefined ? name : serviceAccountUser(account.namespace, '*')
}

/** The user of requests without credentials. */
export const anonymousUser = 'system:anonymous'

/** The group of all authenticated users. */
export const authenticatedGroup = 'system:authenticated'

/** The user of a component of this process that acts as a ServiceAccount. */
export const assertedAccount = (namespace: string, name: string): User => ({
  name: serviceAccountUser(namespace, name),
  uid: '',
  groups: [...serviceAccountGroups(namespace), authenticatedGroup],
  extra: {},
})

/** Members of this group may do everything, whatever authorizers are configured. */
export const privilegedGroup = 'system:masters'

export const isPrivileged = (groups: readonly string[]): boolean => groups.includes(privilegedGroup)
