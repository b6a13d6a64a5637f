// ServiceAccount: creates the account `default` in every namespace, for pods that name no other.
import { namespace } from '../api/core/v1/namespace.ts'
import { serviceAccount } from '../api/core/v1/service-account.ts'
import { isBeingDeleted, objectKey, splitKey } from '../api/meta/object.ts'
import { hasReason } from '../api/errors/status-error.ts'
import { isNamespaceEnding } from './runtime/change-runner.ts'
import { defineController } from './runtime/controller.ts'

const defaultName = 'default'

export const serviceAccountController = defineController({
  name: 'service-account',
  account: 'service-account-controller',
  watches: [namespace, serviceAccount],
  enqueues(kind, { key, now }) {
    if (kind === namespace) return now === undefined ? [] : [key]
    const { namespace: namespaceName, name } = splitKey(key)
    return now === undefined && name === defaultName ? [namespaceName] : []
  },
  async reconcile(key, { client, cached }, context) {
    const found = cached(namespace, key)
    if (found === undefined || isBeingDeleted(found)) return undefined
    if (cached(serviceAccount, objectKey(key, defaultName)) !== undefined) return undefined
    try {
      await client.of(serviceAccount).create({ metadata: { name: defaultName } }, key, context)
    } catch (error) {
      // Another writer created it, or the namespace is terminating: there is nothing left to do. A quota may have room later.
      if (!hasReason(error, 'AlreadyExists') && !isNamespaceEnding(error) && !hasReason(error, 'NotFound')) throw error
    }
    return undefined
  },
})
