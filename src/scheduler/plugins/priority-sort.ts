// PrioritySort: higher priority first, then by time in the queue.
import { defineSchedulerPlugin } from '../framework/framework.ts'

export const prioritySort = defineSchedulerPlugin({
  name: 'PrioritySort',
  queueSort: (a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0),
})
