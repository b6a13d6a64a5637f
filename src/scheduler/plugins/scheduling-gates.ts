// SchedulingGates: a pod is not scheduled before all its gates are removed.
import { defineSchedulerPlugin } from '../framework/framework.ts'

export const schedulingGates = defineSchedulerPlugin({
  name: 'SchedulingGates',
  preEnqueue: ({ spec: { schedulingGates: gates = [] } }) =>
    gates.length === 0 ? undefined : `waiting for scheduling gates: [${gates.map(({ name }) => name).join(' ')}]`,
})
