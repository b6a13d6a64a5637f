// Is it your turn?
import { defineStation } from '../station.ts'

export const fairness = defineStation({
  name: 'fairness',
  async handle(request, next, policies) {
    const leave = await policies.takeSeat(request)
    try {
      return await next(request)
    } finally {
      leave()
    }
  },
})
