// PrioritySort: pods of higher priority first, then those that wait longer.
import { defineSchedulerPlugin } from '../framework/framework.ts'

export const prioritySort = defineSchedulerPlugin({
  name: 'PrioritySort',
  queueSort: (a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0),
})
