// Bootstrap tokens, with which machines join a cluster, and the permissions that they need.
import type { Context } from '../../base/observability/context.ts'
import type { Random } from '../../base/random/random.ts'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import type { Client } from '../../client/client.ts'
import { createIfMissing } from './bootstrap-objects.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
const [bootstrappers, nodes] = ['system:bootstrappers', 'system:nodes']
const signing = 'system:certificates.k8s.io:certificatesigningrequests'

/** Upstream's roles. Installers create the bindings; machines need them to join, and nodes to renew their certificates. */
const bindings: readonly [name: string, role: string, group: string][] = [
  ['coxswain:node-bootstrapper', 'system:node-bootstrapper', bootstrappers],
  ['coxswain:node-autoapprove-bootstrap', `${signing}:nodeclient`, bootstrappers],
  ['coxswain:node-autoapprove-certificate-rotation', `${signing}:selfnodeclient`, nodes],
]

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const [idCharacters, secretCharacters] = [6, 16]

export interface JoinTokenDeps {
  readonly client: Client
  readonly random: Random
  readonly clock: Clock
}

/** Creates the bindings that are missing and a token; returns the token. */
export async function createJoinToken(
  { client, random, clock }: JoinTokenDeps,
  validMs: number,
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
  const text = (count: number) => Array.from({ length: count }, () => alphabet[random.below(alphabet.length)]).join('')
  const [id, key] = [text(idCharacters), text(secretCharacters)]
  const data = {
    'token-id': id,
    'token-secret': key,
    expiration: rfc3339(clock.nowMs() + validMs),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
  }
  const metadata = { name: `bootstrap-token-${id}`, namespace: 'kube-system' }
  await client
    .of(secret)
    .create({ metadata, type: 'bootstrap.kubernetes.io/token', stringData: data }, metadata.namespace, context)
  return `${id}.${key}`
}

/** A kubeconfig with a token, for the first request of a machine. */
export const joinKubeconfig = (server: string, authority: string, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'join', cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } },
    ],
    contexts: [{ name: 'join', context: { cluster: 'join', user: 'join' } }],
    'current-context': 'join',
    users: [{ name: 'join', user: { token } }],
  })

/** A line for a shell. Everything that is not fixed is in base64. */
export const joinCommand = (kubeconfig: string): string =>
  `(umask 077; echo ${Buffer.from(kubeconfig).toString('base64')} | base64 -d > join.kubeconfig) && coxswain kubelet --bootstrap-kubeconfig join.kubeconfig --data-dir /var/lib/coxswain-kubelet`
