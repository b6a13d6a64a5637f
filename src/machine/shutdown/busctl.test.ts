import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Processes, RunningProcess } from '../../platform/process/processes.ts'
import { Busctl, type BusSignal } from './busctl.ts'

const { signal } = new AbortController()
const object = { service: 'org.a', path: '/org/a', interface: 'org.a.M' }

/** A `busctl` that records its calls, and a monitor whose output the test prints. */
function simulated(result: { code: number; stdout: string; stderr: string }) {
  const calls: string[] = []
  const monitor = { print: (_line: string) => {}, end: (_code: number) => {}, isKilled: false }
  const processes: Processes = {
    run(command, args) {
      calls.push([command, ...args].join(' '))
      return Promise.resolve(result)
    },
    start(command, args, _options, onLine): RunningProcess {
      calls.push([command, ...args].join(' '))
      const ended = Promise.withResolvers<number>()
      monitor.print = onLine
      monitor.end = ended.resolve
      return { pid: 1, ended: ended.promise, kill: () => void (monitor.isKilled = true) }
    },
  }
  return { calls, monitor, bus: new Busctl(processes) }
}

test('a property is read as JSON, a method is called with arguments', async () => {
  const { bus, calls } = simulated({ code: 0, stdout: '{"type":"t","data":5000000}\n', stderr: '' })
  equal(await bus.property(object, 'Max', signal), 5_000_000)
  await bus.call(object, 'Kill', 'si', ['unit', '1'], signal)
  deepEqual(calls, [
    'busctl --system --json=short get-property org.a /org/a org.a.M Max',
    'busctl --system call org.a /org/a org.a.M Kill si unit 1',
  ])
})

test('a failed call reports what busctl prints', async () => {
  const { bus } = simulated({ code: 1, stdout: '', stderr: 'Call failed: no such unit\n' })
  await rejects(bus.property(object, 'Max', signal), /^Error: busctl failed: Call failed: no such unit$/)
})

test('a monitor is ready when busctl says so, and reports every signal from then on', async () => {
  const { bus, calls, monitor } = simulated({ code: 0, stdout: '', stderr: '' })
  const signals: BusSignal[] = []
  const opening = bus.monitor("type='signal'", (message) => signals.push(message), signal)
  monitor.print('Monitoring bus message stream.')
  const process = await opening
  monitor.print('{"type":"signal","member":"Changed","payload":{"type":"b","data":[true]}}')
  deepEqual(
    signals.map(({ member, payload }) => [member, payload.data]),
    [['Changed', [true]]],
  )
  deepEqual(calls, ["setpriv --pdeathsig TERM busctl --system --json=short --match=type='signal' monitor"])
  monitor.end(1)
  equal(await process.ended, 1)
})

test('a monitor that exits before it is ready reports its last line', async () => {
  const { bus, monitor } = simulated({ code: 0, stdout: '', stderr: '' })
  const opening = bus.monitor('rule', () => {}, signal)
  monitor.print('Failed to connect to bus')
  monitor.end(1)
  await rejects(opening, /^Error: busctl monitor exited with 1: Failed to connect to bus$/)
  equal(monitor.isKilled, true)
})
