// Sends mutations to a server and records violations: a 5xx, or a rejection without a Status.
import { seededRandom } from '../../base/random/random.ts'
import { broken, mutated, recordedBodies } from './hostile-input.harness.ts'
import type { Harness } from '../server.harness.ts'

const patchTypes = ['json-patch', 'merge-patch', 'strategic-merge-patch'].map((type) => `application/${type}+json`)
const deployment = '/apis/apps/v1/namespaces/default/deployments/web'

export async function attackWithMutations(server: Harness, count: number, failures: string[]): Promise<void> {
  const random = seededRandom(42)
  const bodies = recordedBodies()
  const { body: live } = await server.call('GET', deployment)
  for (let index = 0; index < count; index++) {
    const { path, sent } = bodies[random.below(bodies.length)] ?? { path: deployment, sent: {} }
    const way = random.below(4)
    const text = mutated(way === 0 || way === 3 ? sent : (live as object), random)
    const patchType = patchTypes[random.below(patchTypes.length)] ?? ''
    const [method, target, type] =
      way === 1
        ? (['PUT', deployment, 'application/json'] as const)
        : way === 2
          ? (['PATCH', deployment, patchType] as const)
          : (['POST', path, 'application/json'] as const)
    const body = way === 3 ? broken(text, random) : text
    const answer = await server.call(method, `${target}?dryRun=All`, body, { 'content-type': type })
    if (answer.status >= 500)
      failures.push(`${answer.status} ${method} ${target} ${type} ${text.slice(0, 400)}: ${answer.body.message}`)
    if (answer.status >= 400 && answer.body.kind !== 'Status')
      failures.push(`${method} ${target} is refused without a Status`)
  }
}
