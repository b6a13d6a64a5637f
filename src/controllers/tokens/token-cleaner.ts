// Token cleaner: deletes expired bootstrap tokens.
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import { defineController } from '../runtime/controller.ts'
import { expiryMsOf, isBootstrapToken, tokenNamespace } from './bootstrap-token.ts'

export const tokenCleanerController = defineController({
  name: 'token-cleaner',
  account: 'token-cleaner',
  watches: [secret],
  enqueues: (_, { key, now }) => (now !== undefined && isBootstrapToken(now as Secret) ? [key] : []),
  async reconcile(key, { client, cached, nowMs }, context) {
    const object = cached(secret, key)
    if (object === undefined) return undefined
    const leftMs = expiryMsOf(object) - nowMs
    if (leftMs > 0) return leftMs === Infinity ? undefined : leftMs
    const { name, uid } = object.metadata
    await client.of(secret).delete(name, tokenNamespace, { uid }, context).catch(ignoring('NotFound', 'Conflict'))
    return undefined
  },
})
