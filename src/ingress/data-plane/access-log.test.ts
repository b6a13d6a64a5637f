import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { FlowRecorder, flowTextCharsMax } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { RequestRecorder } from './access-log.ts'
import { ingressMetrics } from './ingress-metrics.ts'

function newRecorder() {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  const deps = { clock, log: silentLog, accessLog: 'off', metrics: ingressMetrics(new Metrics()), flow } as const
  return { clock, flow, recorder: new RequestRecorder(deps) }
}

const requestFor = (host: string, path: string) => ({ method: 'GET', host, path })

test('ten requests in a second are recorded with their routes', async () => {
  const { clock, flow, recorder } = newRecorder()
  for (let count = 0; count < 12; count++)
    recorder.forward(
      recorder.begin(requestFor('web.example', '/'), 'ingress/default/web'),
      '10.0.0.1:80',
      'ingress/default/web',
    )
  equal(flow.last, 20)
  await clock.advance('1s')
  const begun = recorder.begin(requestFor('', '/'), undefined)
  recorder.finish(begun, '404')
  const [first, , last] = [flow.get(flow.oldest), undefined, flow.get(flow.last)]
  deepEqual(first?.object, { resource: 'ingresses', namespace: 'default', name: 'web' })
  deepEqual([last?.what, last?.outcome, last?.object], ['GET /', '404', undefined])
})

test('paths of any length are recorded without keeping the requests', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { clock, flow, recorder } = newRecorder()
  const record = async (count: number) => {
    for (let round = 0; round < count; round++) {
      const head = `${round}`.padEnd(60_000, 'x')
      recorder.begin(requestFor('web.example', round % 2 === 0 ? head : head.slice(0, 30)), undefined)
      await clock.advance('100ms')
    }
    collect()
    return process.memoryUsage().heapUsed / (1 << 20)
  }
  const before = await record(20)
  const keptMb = (await record(300)) - before
  equal(flow.last, 320)
  ok(keptMb < 3, `${keptMb.toFixed(1)} MB`)
  for (const { what } of flow.events()) ok(what.length <= flowTextCharsMax)
})
