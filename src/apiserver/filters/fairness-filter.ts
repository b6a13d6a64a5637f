// The fairness filter: a request starts in its user's turn, with a seat of its priority level. What follows until it first waits
// is measured as one step.
import { defineFilter } from './filter.ts'

export const fairnessFilter = defineFilter({
  name: 'fairness',
  records: 'fairness',
  handle: (request, next, { scheduler, seatOf, loop }) =>
    scheduler.run(request, seatOf(request), (slot) => loop.lastStep({ ...request, slot }, next)),
})
