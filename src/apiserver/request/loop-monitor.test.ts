import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { createLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { LoopMonitor, loopBlockMsMax, reportIntervalMs, requestBlockMsMax } from './loop-monitor.ts'
import { slowStepMs } from './slow-users.ts'
import { defineAdmissionPlugin } from '../admission/framework/admission-plugin.ts'
import { allowed } from '../authorization/authorizer.ts'
import { type Policies } from '../filters/policies.ts'
import { RequestMetrics } from './request-metrics.ts'
import type { RequestSlot } from './request-slot.ts'
import { userWithName, type ApiRequest } from './request.ts'
import { startServer } from '../server.harness.ts'
import { openPolicies } from '../open-policies.ts'

function watching() {
  const lines: { readonly message: string }[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const metrics = new Metrics()
  const clock = new StallingClock()
  const log = createLog({ clock, write, format: 'json', level: 'debug' })
  const monitor = new LoopMonitor({ clock, log, requestMetrics: new RequestMetrics(metrics) })
  /** A step that takes the time, of which the last part is spent waiting for the CPU. */
  const step = (from: ApiRequest, ms: number, waitedMs = 0): void => {
    void monitor.step(from, () => {
      clock.stallMs += ms
      clock.waitedMs += waitedMs
    })
  }
  return { monitor, step, lines, metrics, clock }
}

/** A clock that is advanced while a request is handled, as if the request took that long. */
class StallingClock extends VirtualClock {
  stallMs = 0
  /** The part of it for which other processes had the CPU. */
  waitedMs = 0

  override monotonicMs(): number {
    return super.monotonicMs() + this.stallMs
  }

  override cpuMs(): number {
    return super.cpuMs() - this.waitedMs
  }
}

const request = (signal = new AbortController().signal): ApiRequest => ({
  context: { signal, cause: noCause },
  credentials: { kind: 'asserted', user: userWithName('jane') },
  user: userWithName('jane'),
  sender: 'kubectl',
  agent: 'kubectl',
  target: { kind: 'resource', verb: 'patch', resource: pod, namespace: 'default', name: 'web', subresource: '' },
  query: new URLSearchParams(),
  body: { kind: 'value', value: { secret: 'hidden' } },
})

test('a step that blocks the event loop is logged and counted; a short one is not', () => {
  const { step, lines, metrics } = watching()
  step(request(), loopBlockMsMax - 1)
  step(request(), 10 * loopBlockMsMax, 9.5 * loopBlockMsMax)
  deepEqual(lines, [])
  step(request(), 150)
  const [{ message, ...fields } = { message: '' }] = lines
  equal(message, 'a request blocked the event loop')
  deepEqual(fields, {
    time: '2030-01-01T00:00:00.000Z',
    level: 'debug',
    verb: 'patch',
    resource: 'pods',
    subresource: '',
    namespace: 'default',
    name: 'web',
    user: 'jane',
    sender: 'kubectl',
    blockMs: 150,
  })
  match(metrics.text(), /coxswain_request_loop_block_seconds_count\{verb="patch",resource="pods"\} 1/)
})

test('reports are limited in number, and include the number of omitted ones', () => {
  const { step, lines, metrics, clock } = watching()
  for (let count = 0; count < 5; count++) step(request(), 200)
  equal(lines.length, 1)
  clock.stallMs += reportIntervalMs
  step(request(), 200)
  equal((lines[1] as unknown as { unreported: number }).unreported, 4)
  match(metrics.text(), /coxswain_request_loop_block_seconds_count\{verb="patch",resource="pods"\} 6/)
})

test('a request that blocks the loop for too long in total is ended; so is one whose client has disconnected', () => {
  const { monitor, step, clock } = watching()
  const { signal } = new AbortController()
  step(request(signal), requestBlockMsMax - 1_000)
  step(request(), requestBlockMsMax - 1_000)
  throws(() => step(request(signal), 2_000), { code: 504, reason: 'Timeout' })
  equal(
    monitor.lastStep(request(signal), () => (clock.stallMs += 2_000)),
    clock.stallMs,
    'a response that exists is sent',
  )
  const gone = request(AbortSignal.abort(new Error('gone')))
  throws(() => step(gone, slowStepMs), /gone/)
  step(gone, slowStepMs - 1)
})

test('a step counts for its user if it takes CPU time, also if it fails', () => {
  const { monitor, step, clock } = watching()
  const steps: number[] = []
  const slot = { stepDone: (cpuMs: number) => void steps.push(cpuMs) } as unknown as RequestSlot
  const of = { ...request(), slot }
  step(of, slowStepMs - 1)
  step(of, 80)
  step(of, 500, 480)
  const fail = () => {
    clock.stallMs += 70
    throw new Error('invalid')
  }
  throws(() => monitor.step(of, fail), /invalid/)
  deepEqual(steps, [80, 20, 70])
})

test('the server measures the steps of reads and writes', async () => {
  const clock = new StallingClock()
  const stalls = { authorize: 0, validate: 0 }
  const slow = defineAdmissionPlugin({
    name: 'Slow',
    handles: { operations: ['create', 'update'], kinds: [configMap] },
    validate: () => void (clock.stallMs += stalls.validate),
  })
  const policies: Policies = {
    ...openPolicies,
    authorize: () => {
      clock.stallMs += stalls.authorize
      return allowed()
    },
    admission: [slow],
  }
  await using server = await startServer(policies, { clock })
  const blocks = async () => {
    stalls.authorize = stalls.validate = 0
    const { body } = await server.call('GET', '/metrics')
    return String(body).match(/coxswain_request_loop_block_seconds_count.*/g) ?? []
  }
  const maps = '/api/v1/namespaces/default/configmaps'
  equal((await server.call('POST', maps, { metadata: { name: 'a' } })).status, 201)
  deepEqual(await blocks(), [])
  stalls.authorize = 300
  equal((await server.call('GET', `${maps}/a`)).status, 200)
  deepEqual(await blocks(), ['coxswain_request_loop_block_seconds_count{verb="get",resource="configmaps"} 1'])
  stalls.validate = requestBlockMsMax + 1
  const merge = { 'content-type': 'application/merge-patch+json' }
  equal((await server.call('PATCH', `${maps}/a`, { data: { x: 'y' } }, merge)).status, 504)
  match((await blocks()).join('\n'), /verb="patch",resource="configmaps"} 1/)
  equal((await server.call('GET', `${maps}/a`)).body.data, undefined)
})
