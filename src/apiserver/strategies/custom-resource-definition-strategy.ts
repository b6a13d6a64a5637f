// CustomResourceDefinition: its status lists every version in which objects were ever stored, and reports that the kind
// is not served. Clients that wait for the condition Established therefore wait, instead of failing at their first
// object.
import {
  customResourceDefinition,
  withStorageVersion,
  type CustomResourceDefinition,
} from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import type { Strategy, StrategyContext } from '../registry/strategy.ts'

export const customResourceDefinitionStrategy: Strategy<CustomResourceDefinition> = {
  kind: customResourceDefinition,
  // A dry run responds as upstream, where conditions are set after the creation.
  prepareCreate: (object, context) => (context.isDryRun ? object : withEstablished(object, context)),
  prepareUpdate: (object, _old, context) =>
    withEstablished(
      {
        ...object,
        status: {
          ...object.status,
          storedVersions: withStorageVersion(object.status.storedVersions ?? [], object.spec),
        },
      },
      context,
    ),
}

/** The definition with the condition Established, which is False because custom resources are not served. */
function withEstablished(object: CustomResourceDefinition, { nowMs }: StrategyContext): CustomResourceDefinition {
  const { status } = object
  const conditions = status.conditions ?? []
  if (conditions.some(({ type }) => type === 'Established')) return object
  const established = {
    type: 'Established',
    status: 'False',
    lastTransitionTime: rfc3339(nowMs),
    reason: 'NotServed',
    message: 'custom resources are not served by this API server yet',
  }
  return { ...object, status: { ...status, conditions: [...conditions, established] } }
}
