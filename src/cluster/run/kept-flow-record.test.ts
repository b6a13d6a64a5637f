// What of the flow record is there after a restart.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { causeOf, FlowRecorder, type FlowId } from '../../base/observability/flow-recorder.ts'
import { createLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { flowTreesOf } from '../../flows/flow-graph.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { keepFlowRecord, readKeptFlowRecord } from './kept-flow-record.ts'

const folder = await mkdtemp(join(tmpdir(), 'coxswain-record-'))
after(() => rm(folder, { recursive: true, force: true }))
let files = 0

function start() {
  const path = join(folder, `record-${files++}`)
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'text', level: 'info' })
  const deps = { files: nodePlatform.files, log, random: seededRandom(1) }
  return {
    path,
    clock,
    lines,
    keep: (flow: FlowRecorder, max = 100) => keepFlowRecord(path, flow, max, deps),
    async read() {
      const flow = new FlowRecorder(clock)
      await readKeptFlowRecord(path, flow, deps)
      return flow
    },
  }
}

const web = { resource: 'pods', namespace: 'default', name: 'web' }
const textsOf = (flow: FlowRecorder) => Array.from(flow.events(), ({ what }) => what)
const shapeOf = (flow: FlowRecorder) =>
  Array.from(flow.events(), ({ id: _, cause: _cause, span: _span, ...event }) => event)

test('events are the same after two restarts, with their times and causes', async () => {
  const it = start()
  const flow = new FlowRecorder(it.clock)
  const call = flow.record('call', 'kubectl', 'apiserver', 'create pods web', web)
  await it.clock.advance('1s')
  const put = flow.record('persist', 'apiserver', 'Store', 'put pod web', web, 7, causeOf(call))
  flow.finish(call, '201')
  const seen = flow.record('watch', 'apiserver', 'scheduler', 'ADDED pods web', web, 7, causeOf(put, 7))
  flow.record('call', 'scheduler', 'apiserver', 'create pods/binding web', web, 0, causeOf(seen, 7))
  await it.keep(flow)
  equal((await stat(it.path)).mode & 0o777, 0o600)
  await it.clock.advance('1h')
  const second = await it.read()
  deepEqual(shapeOf(second), shapeOf(flow))
  second.record('call', 'kubectl', 'apiserver', 'delete pods web', web)
  await it.keep(second)
  const third = await it.read()
  deepEqual(shapeOf(third), shapeOf(second))
  const depth = (flowOf: FlowRecorder) => {
    const [tree] = flowTreesOf([...flowOf.events()], web)
    let levels = 0
    for (let each = tree; each !== undefined; [each] = each.children) levels++
    return levels
  }
  deepEqual([flow, second, third].map(depth), [4, 4, 4])
  equal(third.writeOf(7), 2 as FlowId)
})

test('the newest events are kept, up to a number', async () => {
  const it = start()
  const flow = new FlowRecorder(it.clock)
  for (let index = 0; index < 10; index++) flow.record('call', 'a', 'b', `event ${index}`)
  await it.keep(flow, 3)
  deepEqual(textsOf(await it.read()), ['event 7', 'event 8', 'event 9'])
  await it.keep(new FlowRecorder(it.clock))
  deepEqual(textsOf(await it.read()), [])
})

const damages: readonly [name: string, content: string | Uint8Array][] = [
  ['empty', ''],
  ['of another format', 'coxswain flow record 2\n{}\n'],
  ['cut off', 'coxswain flow record 1\n{"arrow":"call"'],
  ['no text', Uint8Array.of(0xff, 0xfe)],
]
for (const [name, content] of damages)
  test(`a file that is ${name} is logged, and the record is empty`, async () => {
    const it = start()
    await writeFile(it.path, content)
    equal((await it.read()).last, 0)
    match(it.lines.join(''), /the kept flow record cannot be read/)
  })

test('without a file there is nothing to read, and a file that cannot be written is logged', async () => {
  const it = start()
  equal((await it.read()).last, 0)
  deepEqual(it.lines, [])
  const deps = { files: nodePlatform.files, random: seededRandom(1) }
  const log = createLog({ clock: it.clock, write: (line) => it.lines.push(line), format: 'text', level: 'info' })
  await keepFlowRecord(join(folder, 'missing', 'record'), new FlowRecorder(it.clock), 1, { ...deps, log })
  match(it.lines.join(''), /the flow record was not kept/)
})
