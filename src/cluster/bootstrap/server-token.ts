// Server tokens, with which machines become servers. A server token is a bootstrap token whose user may read one Secret:
// the encrypted authorities. The objects belong to the token, so they are deleted with it.
import type { Context } from '../../base/observability/context.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { role } from '../../api/rbac/v1/role.ts'
import { roleBinding } from '../../api/rbac/v1/role-binding.ts'
import type { Client } from '../../client/client.ts'
import { lookup } from '../../base/collections/lookup.ts'
import {
  createJoinToken,
  deleteJoinToken,
  tokenNamespace,
  tokenSecretName,
  type JoinTokenDeps,
  type JoinTokenOptions,
} from './join-token.ts'
import { sealBundle, serverKeyBytes, type ServerBundle } from './server-bundle.ts'

/** A token for servers gives access to keys. */
export const serverTokenMsMax = 24 * 3_600_000

const apiGroup = 'rbac.authorization.k8s.io'
const bundleKey = 'bundle'
const nameOf = (id: string): string => `coxswain-server-${id}`

/** Creates the token and what it gives access to; returns `<id>.<secret>.<key>`. */
export async function createServerToken(
  deps: JoinTokenDeps,
  options: JoinTokenOptions,
  bundle: ServerBundle,
  context: Context,
): Promise<string> {
  const { client, random } = deps
  const credential = await createJoinToken(deps, options, context)
  const [id = ''] = credential.split('.')
  try {
    const key = random.bytes(serverKeyBytes)
    await grantBundle(client, id, sealBundle(bundle, id, key, random), context)
    return `${credential}.${key.toHex()}`
  } catch (error) {
    await deleteJoinToken(client, id, context).catch(() => false) // it expires
    throw error
  }
}

async function grantBundle(client: Client, id: string, sealed: Uint8Array, context: Context): Promise<void> {
  const owner = await client.of(secret).get(tokenSecretName(id), tokenNamespace, context)
  const name = nameOf(id)
  const metadata = {
    name,
    namespace: tokenNamespace,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: owner.metadata.name, uid: owner.metadata.uid }],
  }
  await client.of(secret).create({ metadata, data: { [bundleKey]: sealed.toBase64() } }, tokenNamespace, context)
  const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: ['get'] }]
  await client.of(role).create({ metadata, rules }, tokenNamespace, context)
  const roleRef = { apiGroup, kind: 'Role', name }
  const subjects = [{ apiGroup, kind: 'User', name: `system:bootstrap:${id}` }]
  await client.of(roleBinding).create({ metadata, roleRef, subjects }, tokenNamespace, context)
}

/** What the holder of a server token may read. */
export async function readSealedBundle(client: Client, id: string, context: Context): Promise<Uint8Array> {
  const { data } = await client.of(secret).get(nameOf(id), tokenNamespace, context)
  return Uint8Array.fromBase64(lookup(data, bundleKey) ?? '')
}
