// Is it your turn?
import { defineStation } from '../station.ts'

export const fairness = defineStation({
  name: 'fairness',
  async handle(request, next, policies) {
    const seat = policies.takeSeat(request)
    const leave = seat instanceof Promise ? await seat : seat
    try {
      return await next(request)
    } finally {
      leave()
    }
  },
})
