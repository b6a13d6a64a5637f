// SchedulingGates: a pod with gates is not scheduled until the last one is taken away.
import { defineSchedulerPlugin } from '../framework/framework.ts'

export const schedulingGates = defineSchedulerPlugin({
  name: 'SchedulingGates',
  preEnqueue: ({ spec: { schedulingGates: gates = [] } }) =>
    gates.length === 0 ? undefined : `waiting for scheduling gates: [${gates.map(({ name }) => name).join(' ')}]`,
})
