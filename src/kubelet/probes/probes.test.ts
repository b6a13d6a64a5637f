// Probes: single probes of simulated containers, and the thresholds.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Probe } from '../../api/core/v1/container/probe.ts'
import { plainContainer, plainSandbox } from '../../machine/runtime/runtime-config.ts'
import { SimulatedRuntime, type SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import { runProbe, type ProbeOutcome } from './probe-check.ts'
import { probePortOf } from './http-target.ts'
import { ProbeWorker, type ProbeResult } from './probe-worker.ts'

const { signal } = new AbortController()

/** Redirects to another host by port: what follows the location. */
const rawRedirects = {
  83: 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n',
  84: `\r\n${'x'.repeat(20_000)}`,
  85: 'Content-Length: 5\r\n\r\nhello, and more',
} as const

const site: SimulatedProgram = ({ serveHttp, serveHealth, listen, onCommand, terminated }) => {
  serveHttp(80, ({ path, headers }) => {
    switch (path) {
      case '/moved':
        return { status: 302, headers: { location: '/ok?x=1' } }
      case '/away':
        return { status: 301, headers: { location: 'http://192.0.2.77/' }, body: 'Moved.' }
      case '/unchanged':
        return { status: 304, headers: { location: '/ok?x=1' } }
      case '/loop':
        return { status: 302, headers: { location: '/loop' } }
      case '/headers':
        return { status: headers['x-key'] === 'v' && headers['host'] === 'h' && !('accept' in headers) ? 200 : 500 }
      case '/agent':
        return { status: headers['user-agent'] === 'kube-probe/1.36' ? 204 : 500 }
      case '/ok?x=1':
      case '/':
        return { status: 200 }
      case '/hangs':
        return new Promise(() => {})
      default:
        return { status: 503 }
    }
  })
  listen(81, (connection) => connection.end())
  for (const [port, rest] of Object.entries(rawRedirects))
    listen(Number(port), (connection) => {
      const bytes = new TextEncoder().encode(`HTTP/1.1 302 Found\r\nLocation: http://192.0.2.77/\r\n${rest}`)
      const head = bytes.subarray(0, bytes.length - 3)
      const tail = bytes.subarray(bytes.length - 3)
      void connection
        .write(head)
        .then(() => connection.write(tail))
        .then(() => connection.end())
    })
  serveHealth(90, (service) => (service === '' ? 'SERVING' : 'NOT_SERVING'))
  onCommand(([name]) =>
    name === 'hang'
      ? new Promise(() => {})
      : Promise.resolve({ exitCode: name === 'ok' ? 0 : 1, stdout: 'a', stderr: 'b' }),
  )
  return new Promise((resolve) => terminated.addEventListener('abort', () => resolve(0)))
}

const spec = (handler: object): Probe => ({
  timeoutSeconds: 2,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  ...handler,
})
const named = { name: 'c', ports: [{ name: 'web', containerPort: 80, protocol: 'TCP' }] } as unknown as Container
const http = (path: string, more: object = {}) => ({ httpGet: { path, port: 80, scheme: 'HTTP', ...more } })
const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
const ip = '10.244.0.2'

const checks: [handler: object, result: string][] = [
  [{ exec: { command: ['ok'] } }, 'success'],
  [{ exec: { command: ['bad'] } }, 'failure: ab'],
  [{ exec: { command: ['hang', 'on'] } }, 'failure: command timed out: "hang on" timed out after 2s'],
  [http('/'), 'success'],
  [http('ok?x=1'), 'success'],
  [{ httpGet: { port: 'web', scheme: 'HTTP' } }, 'success'],
  [http('/agent'), 'success'],
  [
    http('/headers', {
      httpHeaders: [
        { name: 'X-Key', value: 'v' },
        { name: 'Host', value: 'h' },
        { name: 'Accept', value: '' },
      ],
    }),
    'success',
  ],
  [http('/moved'), 'success'],
  [http('/away'), 'warning: Probe terminated redirects, Response body: Moved.'],
  [http('/', { port: 83 }), 'warning: Probe terminated redirects, Response body: hello world'],
  [http('/', { port: 84 }), `warning: Probe terminated redirects, Response body: ${'x'.repeat(10_240)}`],
  [http('/', { port: 85 }), 'warning: Probe terminated redirects, Response body: hello'],
  [http('/unchanged'), 'warning: Probe terminated redirects, Response body: '],
  [http('/loop'), `failure: Get "http://${ip}:80/loop": stopped after 10 redirects`],
  [http('/bad'), 'failure: HTTP probe failed with statuscode: 503'],
  [http('/hangs'), `failure: Get "http://${ip}:80/hangs": ${late}`],
  [http('/', { port: 1 }), `failure: Get "http://${ip}:1/": dial tcp ${ip}:1: connect: connection refused`],
  [http('/', { port: 81 }), `failure: Get "http://${ip}:81/": EOF`],
  [
    http('/', { host: '192.0.2.9' }),
    'failure: Get "http://192.0.2.9:80/": dial tcp 192.0.2.9:80: connect: connection refused',
  ],
  [{ tcpSocket: { port: 81 } }, 'success'],
  [{ tcpSocket: { port: 81, host: 'a\nb' } }, 'failure: dial tcp: lookup a\nb: no such host'],
  [{ tcpSocket: { port: 82 } }, `failure: dial tcp ${ip}:82: connect: connection refused`],
  [{ grpc: { port: 90, service: '' } }, 'success'],
  [{ grpc: { port: 90, service: 's' } }, 'failure: service unhealthy (responded with "NOT_SERVING")'],
  [
    { grpc: { port: 91, service: '' } },
    `failure: timeout: failed to connect service "${ip}:91" within 2s: context deadline exceeded`,
  ],
  [{ tcpSocket: { port: 'nope' } }, 'error: couldn\'t find port: "nope" in container "c"'],
]
for (const [handler, expected] of checks)
  test(`check: ${JSON.stringify(handler)} → ${expected.slice(0, 100)}`, async () => {
    const clock = new VirtualClock(0)
    const runtime = new SimulatedRuntime(clock, seededRandom(1), { images: { site } })
    const sandbox = plainSandbox('u', '', '')
    const sandboxId = await runtime.runSandbox(sandbox, signal)
    const containerId = await runtime.createContainer(sandboxId, plainContainer('c', 'site'), sandbox, signal)
    await runtime.startContainer(containerId, signal)
    const { dialer } = runtime
    const outcome = runProbe(
      spec(handler),
      { container: named, containerId, podIp: ip },
      { runtime, dialer, sendOn: nodeSendOn, clock },
      signal,
    )
    const text = outcome.then(
      (result) => (result.kind === 'success' ? result.kind : `${result.kind}: ${result.message}`),
      (error: Error) => `error: ${error.message}`,
    )
    await clock.advance('3s')
    equal(await text, expected)
  })

test('a port is a number or the name of a container port', () => {
  deepEqual([probePortOf(8080, named), probePortOf('web', named), probePortOf('81', named)], [8080, 80, 81])
})

/**
 * The results of a worker for a sequence of outcomes, one per second: `+`, `-`, and `!` for a probe that cannot be
 * performed.
 */
async function resultsOf(outcomes: string, more: Partial<Probe>): Promise<string[]> {
  const clock = new VirtualClock(0)
  const results: string[] = []
  let problems = 0
  const left = outcomes.split('')
  const check = (): Promise<ProbeOutcome> => {
    const answer = left.shift()
    if (answer === undefined) return new Promise(() => {})
    if (answer === '!') return Promise.reject(new Error('no'))
    return Promise.resolve(answer === '-' ? { kind: 'failure', message: 'm' } : { kind: 'success' })
  }
  const onResultChange = (verdict: ProbeResult) => results.push(`${clock.nowMs() / 1000}s ${verdict}`)
  let performed = 0
  const callbacks = { onResultChange, onProblem: () => problems++, onResult: () => performed++ }
  const worker = new ProbeWorker(
    { clock, spec: { ...spec({}), periodSeconds: 1, ...more }, check, ...callbacks },
    'open',
  )
  worker.start(0)
  await clock.advance(1000 * (outcomes.length - 1))
  worker.stop()
  return [...results, `${problems} of ${performed} reported`]
}

const results: [why: string, answers: string, more: Partial<Probe>, decided: string[]][] = [
  ['one success is enough', '+++', {}, ['0s success', '0 of 3 reported']],
  ['three failures in a row', '+--+---', {}, ['0s success', '6s failure', '5 of 7 reported']],
  ['two successes in a row', '+-++', { successThreshold: 2 }, ['3s success', '1 of 4 reported']],
  ['a probe that cannot be performed is retried at once', '!!+', {}, ['0s success', '0 of 1 reported']],
  [
    'a probe that cannot be performed does not count',
    '!!!-',
    { failureThreshold: 1 },
    ['1s failure', '2 of 1 reported'],
  ],
]
for (const [why, outcomes, more, decided] of results)
  test(`thresholds: ${why}`, async () => deepEqual(await resultsOf(outcomes, more), decided))
