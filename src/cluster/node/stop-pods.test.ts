import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { plainContainer, plainSandbox } from '../../machine/runtime/runtime-config.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { removePods, stopPods } from './stop-pods.ts'

const { signal } = new AbortController()

test('a stop ends containers and records them; a final stop removes everything', async () => {
  const runtime = new SimulatedRuntime(new VirtualClock(), seededRandom(1))
  for (const uid of ['a', 'b']) {
    const config = plainSandbox(uid, 'default', uid)
    const sandbox = await runtime.runSandbox(config, signal)
    const id = await runtime.createContainer(sandbox, plainContainer('c', 'i'), config, signal)
    await runtime.startContainer(id, signal)
  }
  await stopPods(runtime, signal)
  const pod = await runtime.inspect('a', signal)
  deepEqual([pod?.isReady, pod?.containers.map(({ state }) => state)], [false, ['exited']])
  deepEqual(await removePods(runtime, signal), ['a', 'b'])
  equal((await runtime.podUids(signal)).length, 0)
})
