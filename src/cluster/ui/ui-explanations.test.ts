import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { userWithName } from '../../apiserver/request/request.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { causeOf, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Client } from '../../client/client.ts'
import { uiExplanations } from './ui-explanations.ts'

const { signal } = new AbortController()
const clock = new VirtualClock()
const subject = { kind: deployment, namespace: 'default', name: 'web' }
const web = {
  metadata: { name: 'web', namespace: 'default', generation: 2 },
  spec: { replicas: 1, selector: { matchLabels: { app: 'web' } } },
  status: { observedGeneration: 1 },
} as unknown as ApiObject

/** A client that finds the deployment; other reads end with the status code. */
function explainedTo(name: string, found: ApiObject | undefined, otherwise: number) {
  const users: string[] = []
  const fail = () => Promise.reject(new StatusError(otherwise, otherwise === 403 ? 'Forbidden' : 'InternalError', 'no'))
  const client = {
    of: (kind: Kind) => ({ find: () => (kind === deployment ? Promise.resolve(found) : fail()), list: fail }),
  } as unknown as Client
  const explanations = uiExplanations({
    clock,
    clientAs(user) {
      users.push(user.name)
      return client
    },
  })
  return { users, why: explanations.why(subject, [], userWithName(name), signal), explanations }
}

test('an object is explained from what its reader may see', async () => {
  const { why, users } = explainedTo('jane', web, 403)
  const { waits } = (await why) as { waits: readonly string[] }
  match(waits.join(' '), /has not processed the last change yet \(generation 2, observed 1\)/)
  deepEqual(users, ['jane'])
})

test('an object that does not exist has no explanation; other errors are reported', async () => {
  equal(await explainedTo('jane', undefined, 403).why, undefined)
  await rejects(explainedTo('jane', web, 500).why, { code: 500 })
})

test('the graph of an object has its messages', async () => {
  const flow = new FlowRecorder(clock)
  const object = { resource: 'deployments', namespace: 'default', name: 'web' }
  flow.record('call', 'kubectl', 'API Server', 'create deployments', object)
  const graph = await explainedTo('jane', web, 403).explanations.flow(object, [...flow.events()], signal)
  equal((graph as { roots: object[] }).roots.length, 1)
})

test('the graph of an object with very many messages has the newest ones, and is computed in slices', async () => {
  const flow = new FlowRecorder(clock)
  const object = { resource: 'deployments', namespace: 'default', name: 'web' }
  for (let count = 0; count < 20_000; count++) {
    const call = flow.record('call', 'kubectl', 'API Server', 'update deployments', object)
    flow.record('persist', 'API Server', 'Store', 'put deployment', object, count + 1, causeOf(call))
  }
  let slices = 0
  class SlicedClock extends VirtualClock {
    #readings = 0

    override monotonicMs(): number {
      return this.#readings++
    }

    override outside<T>(work: Promise<T>): Promise<T> {
      slices++
      return super.outside(work)
    }
  }
  const { flow: graphOf } = uiExplanations({ clock: new SlicedClock(), clientAs: () => ({}) as Client })
  const { roots } = (await graphOf(object, [...flow.events()], signal)) as { roots: { event: { id: number } }[] }
  equal(roots.length, 5_000)
  equal(roots.at(-1)?.event.id, 39_999)
  equal(slices > 10, true)
})

test('the overview and the problems of a cluster are what its reader may see', async () => {
  const { explanations, users } = explainedTo('jane', web, 403)
  const reader = userWithName('jane')
  deepEqual(await explanations.overview('', reader, signal), { health: [], capacity: [] })
  deepEqual(users.splice(0), ['jane', 'jane'])
  const { problems } = (await explanations.problems('default', reader, signal)) as { problems: object[] }
  deepEqual(problems, [])
  deepEqual(users, ['jane'])
})
