// What is kept up of priority and fairness: the default objects, and whether the level of each FlowSchema exists.
import { rfc3339 } from '../../base/clock.ts'
import { flowSchema, type FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import type { ApiObject } from '../../api/object.ts'
import type { RegistryReads } from '../registry/strategy.ts'
import type { Seed } from '../registry/seed.ts'
import type { Upkeep } from '../registry/upkeep.ts'
import { fairnessSeeds } from './defaults.ts'

export const fairnessUpkeep: Upkeep = {
  name: 'priority and fairness',
  kinds: [flowSchema, priorityLevelConfiguration],
  seeds: (reads, nowMs) => {
    const missing = fairnessSeeds.filter(({ kind, object, update }) => {
      const found = reads.get(kind, '', object.metadata.name)
      return found === undefined || update?.(found) !== undefined
    })
    // First the objects themselves: what they tell of one another follows from those.
    return missing.length > 0 ? missing : reads.list(flowSchema).flatMap((schema) => told(schema, reads, nowMs))
  },
}

/** A seed that corrects the schema's condition; none where it is right. */
function told(schema: FlowSchema, reads: RegistryReads, nowMs: number): Seed[] {
  const condition = danglingCondition(schema, reads)
  const { conditions = [] } = schema.status
  const known = conditions.find(({ type }) => type === condition.type)
  if (known?.status === condition.status && known.message === condition.message) return []
  const changed = { ...condition, lastTransitionTime: rfc3339(nowMs) }
  const update = (current: ApiObject) =>
    ({ ...current, status: { conditions: [...conditions.filter((each) => each !== known), changed] } }) as ApiObject
  return [{ kind: flowSchema, object: schema, update }]
}

function danglingCondition({ spec }: FlowSchema, reads: RegistryReads) {
  const { name } = spec.priorityLevelConfiguration
  const isThere = reads.get(priorityLevelConfiguration, '', name) !== undefined
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`
  return isThere
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${about} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${about} but there is no such object` }
}
