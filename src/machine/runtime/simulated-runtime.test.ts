import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { plainContainer, plainSandbox } from './runtime-config.ts'
import { runtimeContract } from './runtime-contract.suite.ts'
import { programContract } from './program.suite.ts'
import { behaviourFromAnnotations } from './simulated-behaviour.ts'
import { serveUntilTerminated, SimulatedRuntime, type SimulatedProgram } from './simulated-runtime.ts'

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

const program: SimulatedProgram = ({ arguments: given, environment, log, serveHttp, terminated }) => {
  serveHttp(8080, () => ({ status: 200, body: 'ok' }))
  for (const argument of given) log(argument)
  log(`GREETING=${environment['GREETING']}`)
  return new Promise((resolve) =>
    terminated.addEventListener('abort', () => {
      log(String(terminated.reason))
      resolve(5)
    }),
  )
}

programContract('simulated', () => {
  const runtime = new SimulatedRuntime(realClock, seededRandom(1), { images: { program } })
  return Promise.resolve({ runtime, logs: runtime.logs, dialer: runtime.dialer, image: 'program' })
})

test('a program that does not exit is killed after the grace period, on the virtual clock', async () => {
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

const behaviours: [why: string, annotations: Record<string, string>, seen: (number | string)[]][] = [
  ['as configured for its image', {}, ['exited', 1_500, 3, 'from the image']],
  ['as configured in its pod', { 'start-after': '2s', 'exit-code': '4' }, ['exited', 2_500, 4, 'from the image']],
  [
    'as its pod says of it alone',
    { 'run-for': '1h', 'run-for.c': '3s', 'log.c': 'one\ntwo', 'exit-code.other': '9' },
    ['exited', 4_000, 3, 'one\ntwo'],
  ],
  ['until its time comes', { 'run-for': '1h' }, ['running', 0, 0, 'from the image']],
]
test('an invalid annotation is an error', () => {
  for (const annotations of [{ 'exit-code': 'one' }, { 'run-for': 'long' }, { 'answer-after': 'soon' }]) {
    const [[name, value] = ['', '']] = Object.entries(annotations)
    throws(() => behaviourFromAnnotations({ [`simulated.coxswain.dev/${name}`]: value }, 'c'), /is not/)
  }
})

for (const [why, configured, expected] of behaviours)
  test(`a simulated container behaves ${why}`, async () => {
    const clock = new VirtualClock(0)
    const { signal } = new AbortController()
    const ofTheImage = { i: { startMs: 1_000, runMs: 500, exitCode: 3, log: ['from the image'] } }
    const runtime = new SimulatedRuntime(clock, seededRandom(1), { images: ofTheImage })
    const annotations = Object.fromEntries(
      Object.entries(configured).map(([name, value]) => [`simulated.coxswain.dev/${name}`, value]),
    )
    const sandbox = { ...plainSandbox('u', '', ''), annotations }
    const id = await runtime.createContainer(
      await runtime.runSandbox(sandbox, signal),
      plainContainer('c', 'i'),
      sandbox,
      signal,
    )
    const starting = runtime.startContainer(id, signal)
    await clock.advance('10s')
    await starting
    const [seen] = (await runtime.inspect('u', signal))?.containers ?? []
    const log = await runtime.logs.open(seen?.logPath ?? '')
    let text = ''
    for (let piece = await log?.read(0, 1_000); piece?.length; piece = await log?.read(text.length, 1_000))
      text += new TextDecoder().decode(piece)
    const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ').slice(3).join(' ')]))
    deepEqual([seen?.state, seen?.finishedMs, seen?.exitCode, lines.join('\n')], expected)
  })

test('a runtime without a network rejects calls of its programs', async () => {
  const clock = new VirtualClock()
  const { signal } = new AbortController()
  const errors: unknown[] = []
  const keep = (error: unknown) => void errors.push(String(error))
  const calling: SimulatedProgram = async ({ fetch, connect, resolve }) => {
    await fetch('http://web/').catch(keep)
    await connect('web', 80).catch(keep)
    await resolve('web').catch(keep)
    return 0
  }
  const runtime = new SimulatedRuntime(clock, seededRandom(1), { images: { program: calling } })
  const sandbox = plainSandbox('uid', 'default', 'client')
  const sandboxId = await runtime.runSandbox(sandbox, signal)
  const id = await runtime.createContainer(sandboxId, plainContainer('c', 'program'), sandbox, signal)
  await runtime.startContainer(id, signal)
  await clock.settle()
  deepEqual(new Set(errors), new Set(['Error: this runtime has no network: simulated pods of a cluster have one']))
  equal(errors.length, 3)
})
