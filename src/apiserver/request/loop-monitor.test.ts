import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { createLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import {
  LoopMonitor,
  loopBlockMsMax,
  reportIntervalMs,
  requestBlockMsMax,
  slowForMs,
  slowStepMs,
  slowStepsMin,
} from './loop-monitor.ts'
import { defineAdmissionPlugin } from '../admission/framework/admission-plugin.ts'
import { allowed } from '../authorization/authorizer.ts'
import { type Policies } from '../filters/policies.ts'
import { RequestMetrics } from './request-metrics.ts'
import { userWithName, type ApiRequest } from './request.ts'
import { startServer } from '../server.harness.ts'
import { openPolicies } from '../open-policies.ts'

function watching() {
  const lines: { readonly message: string }[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const metrics = new Metrics()
  const clock = new VirtualClock()
  const log = createLog({ clock, write, format: 'json' })
  return { watch: new LoopMonitor({ clock, log, requestMetrics: new RequestMetrics(metrics) }), lines, metrics, clock }
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

test('a user with several slow requests is treated as slow for a while; other users are not', async () => {
  const { watch, clock } = watching()
  const slowStep = () => watch.stepDone(request(), clock.monotonicMs() - slowStepMs, clock.monotonicMs())
  for (let steps = 1; steps < slowStepsMin; steps++) slowStep()
  equal(watch.isSlow('jane'), false)
  slowStep()
  deepEqual([watch.isSlow('jane'), watch.isSlow('john')], [true, false])
  await clock.advance(slowForMs)
  equal(watch.isSlow('jane'), false)
  slowStep()
  equal(watch.isSlow('jane'), false, 'what was long ago does not count')
})

test('a step that blocks the event loop is logged and counted; a short one is not', () => {
  const { watch, lines, metrics } = watching()
  watch.stepDone(request(), 0, loopBlockMsMax - 1)
  deepEqual(lines, [])
  watch.stepDone(request(), 0, 150)
  const [{ message, ...fields } = { message: '' }] = lines
  equal(message, 'a request blocked the event loop')
  deepEqual(fields, {
    time: '2030-01-01T00:00:00.000Z',
    level: 'warn',
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
  const { watch, lines, metrics } = watching()
  for (let count = 0; count < 5; count++) watch.responseDone(request(), 0, 200)
  equal(lines.length, 1)
  watch.responseDone(request(), reportIntervalMs, reportIntervalMs + 200)
  equal((lines[1] as unknown as { unreported: number }).unreported, 4)
  match(metrics.text(), /coxswain_request_loop_block_seconds_count\{verb="patch",resource="pods"\} 6/)
})

test('a request that blocks the loop for too long in total is ended; so is one whose client has disconnected', () => {
  const { watch } = watching()
  const { signal } = new AbortController()
  watch.stepDone(request(signal), 0, requestBlockMsMax - 1_000)
  watch.stepDone(request(), 0, requestBlockMsMax - 1_000)
  throws(() => watch.stepDone(request(signal), 0, 2_000), { code: 504, reason: 'Timeout' })
  const gone = request(AbortSignal.abort(new Error('gone')))
  throws(() => watch.stepDone(gone, 0, slowStepMs), /gone/)
  watch.stepDone(gone, 0, slowStepMs - 1)
})

/** A clock that is advanced while a request is handled, as if the request took that long. */
class StallingClock extends VirtualClock {
  stallMs = 0

  override monotonicMs(): number {
    return super.monotonicMs() + this.stallMs
  }
}

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
