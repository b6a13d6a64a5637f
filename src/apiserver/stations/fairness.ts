// Is it your turn?
import { ending, whenKnown } from '../../base/when-known.ts'
import { defineStation } from '../station.ts'

export const fairness = defineStation({
  name: 'fairness',
  records: 'fairness',
  handle: (request, next, policies) =>
    whenKnown(policies.takeSeat(request), (leave) => ending(() => next(request), leave)),
})
