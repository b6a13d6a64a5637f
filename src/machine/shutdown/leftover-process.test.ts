// Files and processes are simulated: a program ends with the signal that it does not ignore.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { endLeftover } from './leftover-process.ts'

const { signal } = new AbortController()

const cases: readonly [
  name: string,
  state: { pid?: string; commandLine?: string; endsWith?: string },
  signals: readonly string[],
][] = [
  ['no program was started', {}, []],
  ['a damaged file', { pid: 'x' }, []],
  ['it has ended', { pid: '42' }, []],
  ['its pid belongs to another program', { pid: '42', commandLine: 'vi\0/etc/hosts\0' }, []],
  ['it runs', { pid: '42', commandLine: 'etcd\0--data-dir=/d\0', endsWith: 'SIGTERM' }, ['42 SIGTERM']],
  [
    'it does not end by itself',
    { pid: '42', commandLine: 'etcd\0--data-dir=/d\0', endsWith: 'SIGKILL' },
    ['42 SIGTERM', '42 SIGKILL'],
  ],
]
for (const [name, { pid, commandLine, endsWith }, expected] of cases)
  test(`a leftover program: ${name}`, async () => {
    const clock = new VirtualClock()
    const signals: string[] = []
    const contents = new Map([
      ['/data/etcd.pid', pid],
      ['/proc/42/cmdline', commandLine],
    ])
    const files = {
      read: async (path: string) => {
        const text = contents.get(path)
        return text === undefined ? undefined : new TextEncoder().encode(text)
      },
    }
    const processes = {
      signal(to: number, what: string) {
        signals.push(`${to} ${what}`)
        if (what === endsWith) contents.delete(`/proc/${to}/cmdline`)
      },
    }
    const ended = endLeftover(
      { pidPath: '/data/etcd.pid', argument: '--data-dir=/d' },
      { files, processes, clock },
      signal,
    )
    await clock.advance(60_000)
    await ended
    deepEqual(signals, expected)
  })
