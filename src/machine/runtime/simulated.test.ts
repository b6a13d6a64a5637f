import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/clock.ts'
import { seededRandom } from '../../base/random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { plainContainer, plainSandbox } from './config.ts'
import { runtimeContract } from './contract.suite.ts'
import { serveUntilTerminated, SimulatedRuntime } from './simulated.ts'

const images = { server: 'server', exits3: 'exits3', missing: 'missing' }
const command = ([name]: readonly string[]) =>
  name === 'hang' ? new Promise<never>(() => {}) : Promise.resolve({ exitCode: 7, stdout: 'out\n' })
const programs = { server: serveUntilTerminated, exits3: () => Promise.resolve(3), missing: 'missing' } as const

runtimeContract('simulated', () =>
  Promise.resolve({
    runtime: new SimulatedRuntime(realClock, seededRandom(1), { images: programs, command }),
    images,
    commands: { exits7: ['seven'], hangs: ['hang'] },
  }),
)

test('a program that does not end is killed after the grace, on the virtual clock', async () => {
  const clock = new VirtualClock(0)
  const { signal } = new AbortController()
  const runtime = new SimulatedRuntime(clock, seededRandom(1), { images: { stubborn: () => new Promise(() => {}) } })
  const sandbox = plainSandbox('u', '', '')
  const sandboxId = await runtime.runSandbox(sandbox, signal)
  const id = await runtime.createContainer(sandboxId, plainContainer('c', 'stubborn'), sandbox, signal)
  await runtime.startContainer(id, signal)
  const stopping = runtime.stopContainer(id, 30_000, signal)
  await clock.advance('1m')
  await stopping
  const seen = (await runtime.inspect('u', signal))?.containers[0]
  equal(seen?.exitCode, 137)
  equal(seen?.finishedMs, 30_000)
})
