// Bootstrap tokens, with which machines join a cluster, and the permissions that they need.
import type { Context } from '../../base/observability/context.ts'
import type { Random } from '../../base/random/random.ts'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { allowClusterInfo } from './cluster-info.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
const bootstrappers = 'system:bootstrappers'
const nodes = 'system:nodes'
const signing = 'system:certificates.k8s.io:certificatesigningrequests'

/** Upstream's roles. Installers create the bindings; machines need them to join, and nodes to renew their certificates. */
const bindings: readonly [name: string, role: string, group: string][] = [
  ['coxswain:node-bootstrapper', 'system:node-bootstrapper', bootstrappers],
  ['coxswain:node-autoapprove-bootstrap', `${signing}:nodeclient`, bootstrappers],
  ['coxswain:node-autoapprove-certificate-rotation', `${signing}:selfnodeclient`, nodes],
]

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const idCharacters = 6
const secretCharacters = 16
export const tokenNamespace = 'kube-system'
const namespace = tokenNamespace
const type = 'bootstrap.kubernetes.io/token'
export const tokenSecretName = (id: string): string => `bootstrap-token-${id}`

export interface JoinTokenDeps {
  readonly client: Client
  readonly random: Random
  readonly clock: Clock
}

export interface JoinTokenOptions {
  /** 0: it does not expire. */
  readonly validMs: number
  readonly description?: string | undefined
}

/** Creates the permissions that are missing and a token; returns the token. */
export async function createJoinToken(
  { client, random, clock }: JoinTokenDeps,
  { validMs, description }: JoinTokenOptions,
  context: Context,
): Promise<string> {
  for (const [name, role, group] of bindings)
    await createIfMissing(
      client,
      clusterRoleBinding,
      {
        metadata: { name },
        roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: group }],
      },
      context,
    )
  await allowClusterInfo(client, context)
  const text = (count: number) => Array.from({ length: count }, () => alphabet[random.below(alphabet.length)]).join('')
  const id = text(idCharacters)
  const key = text(secretCharacters)
  const data = {
    'token-id': id,
    'token-secret': key,
    ...(validMs === 0 ? {} : { expiration: rfc3339(clock.nowMs() + validMs) }),
    ...(description === undefined ? {} : { description }),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
  }
  const metadata = { name: tokenSecretName(id), namespace }
  await client.of(secret).create({ metadata, type, stringData: data }, namespace, context)
  return `${id}.${key}`
}

export interface ListedToken {
  readonly id: string
  /** Undefined: it does not expire. */
  readonly expiration: string | undefined
  readonly usages: readonly string[]
  readonly description: string
  readonly groups: string
}

const usagePattern = /^usage-bootstrap-([a-z]+)$/

/** Without their secrets. */
export async function listJoinTokens(client: Client, context: Context): Promise<readonly ListedToken[]> {
  const { items } = await client.of(secret).list({ namespace, fieldSelector: `type=${type}` }, context)
  return items.map(listed)
}

function listed({ metadata, data = {} }: Secret): ListedToken {
  const value = (key: string) => new TextDecoder().decode(Uint8Array.fromBase64(lookup(data, key) ?? ''))
  const usages = Object.keys(data).flatMap((key) => {
    const [, usage] = usagePattern.exec(key) ?? []
    return usage !== undefined && value(key) === 'true' ? [usage] : []
  })
  const expiration = value('expiration')
  return {
    id: metadata.name.slice(tokenSecretName('').length),
    expiration: expiration === '' ? undefined : expiration,
    usages: usages.toSorted(),
    description: value('description'),
    groups: value('auth-extra-groups'),
  }
}

/** Returns whether there was such a token. */
export async function deleteJoinToken(client: Client, id: string, context: Context): Promise<boolean> {
  try {
    await client.of(secret).delete(tokenSecretName(id), namespace, {}, context)
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false
    throw error
  }
}
