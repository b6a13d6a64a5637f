// The reconciler of priority and fairness: the default objects, and the condition Dangling of each FlowSchema.
import { rfc3339 } from '../../base/time/clock.ts'
import { flowSchema, type FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { BootstrapObject } from '../bootstrap/bootstrap-object.ts'
import type { BootstrapReconciler } from '../bootstrap/bootstrap-reconciler.ts'
import { fairnessBootstrapObjects } from './default-flow-schemas.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'

export const flowSchemaReconciler: BootstrapReconciler = {
  name: 'priority and fairness',
  kinds: [flowSchema, priorityLevelConfiguration],
  desired: (lister, nowMs) => {
    const missing = fairnessBootstrapObjects.filter(({ kind, object, update }) => {
      const found = lister.get(kind, '', object.metadata.name)
      return found === undefined || update?.(found) !== undefined
    })
    // The objects come first, because the conditions depend on them.
    return missing.length > 0
      ? missing
      : lister.list(flowSchema).flatMap((schema) => withCondition(schema, lister, nowMs))
  },
}

/** An update of the schema's condition; none where it is right. */
function withCondition(schema: FlowSchema, lister: ObjectLister, nowMs: number): BootstrapObject[] {
  const condition = danglingCondition(schema, lister)
  const { conditions = [] } = schema.status
  const known = conditions.find(({ type }) => type === condition.type)
  if (known?.status === condition.status && known.message === condition.message) return []
  const changed = { ...condition, lastTransitionTime: rfc3339(nowMs) }
  const update = (current: ApiObject) =>
    ({ ...current, status: { conditions: [...conditions.filter((each) => each !== known), changed] } }) as ApiObject
  return [{ kind: flowSchema, object: schema, update }]
}

function danglingCondition({ spec }: FlowSchema, lister: ObjectLister) {
  const { name } = spec.priorityLevelConfiguration
  const isThere = lister.get(priorityLevelConfiguration, '', name) !== undefined
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`
  return isThere
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${about} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${about} but there is no such object` }
}
