// CustomResourceDefinition: its status lists every version in which objects were ever stored. A deletion first removes the
// objects: it adds a finalizer, which the definition controller removes when they are gone.
import {
  customResourceDefinition,
  withStorageVersion,
  type CustomResourceDefinition,
} from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { without } from '../../schema/json/json-value.ts'
import { cleanupFinalizer, deletionPending, withCondition } from '../custom-resources/definition-conditions.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

export const customResourceDefinitionStrategy: Strategy<CustomResourceDefinition> = {
  kind: customResourceDefinition,
  prepareUpdate: (object) => ({
    ...object,
    status: {
      ...object.status,
      storedVersions: withStorageVersion(object.status.storedVersions ?? [], object.spec),
    },
  }),
  keepsGenerationOnDelete: true,
  isBlocked: ({ metadata }) => metadata.deletionTimestamp === undefined,
  markDeleted(object) {
    const metadata = without(object.metadata, 'deletionGracePeriodSeconds')
    const finalizers = [...(metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer), cleanupFinalizer]
    const nowMs = Date.parse(metadata.deletionTimestamp ?? '')
    return withCondition({ ...object, metadata: { ...metadata, finalizers } }, deletionPending, nowMs)
  },
}
