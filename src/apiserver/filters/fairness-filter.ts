// The fairness filter: a request takes a seat of its priority level, or waits for one.
import { finallyMaybe, thenMaybe } from '../../base/async/maybe-promise.ts'
import { defineFilter } from './filter.ts'

export const fairnessFilter = defineFilter({
  name: 'fairness',
  records: 'fairness',
  handle: (request, next, policies) =>
    thenMaybe(policies.takeSeat(request), (leave) => finallyMaybe(() => next(request), leave)),
})
